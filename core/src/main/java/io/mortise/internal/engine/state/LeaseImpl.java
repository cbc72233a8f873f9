package io.mortise.internal.engine.state;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.function.CheckedSupplier;
import io.mortise.internal.event.AcquireTrace;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease of this process. State, listeners and validity change under the stripe's lock; reading
 * takes no lock.
 */
public sealed class LeaseImpl implements Lease, InterruptibleScope.LosableLease {
  private final LockName lockName;
  private final long token;
  private final boolean releaseAsync;

  /** The thread that acquired it, while it holds; needed to detect that it waits for itself. */
  private @Nullable Thread caller;

  private volatile Validity validity;

  /** True until released or lost, regardless of the clock. Flags take less room than a state. */
  private volatile boolean open = true;

  /** Whether a loss ended it; written before {@link #open} in that case. */
  private volatile boolean lost;

  /** Whether a call that released the lease has reported its loss. Guarded by the stripe's lock. */
  private boolean reported;

  /** A {@link LeaseLostException} once lost; before that a list of listeners, if there are any. */
  private @Nullable Object lossOrListeners;

  /**
   * The engine operations of leases. Leases find them through their session instead of a field,
   * because a process may hold a million leases.
   */
  public interface Operations {
    /** The operations of the engine that owns the session. */
    static Operations of(LiveSession session) {
      return ((Source) session.listener()).leases();
    }

    /** Gives access to the operations; implemented by the listener of the session. */
    interface Source {
      Operations leases();
    }

    /** The engine's fixed settings. */
    EngineSettings settings();

    /** The reason why the lease is not valid: its loss, or the doubt about it. */
    LockException invalid(LeaseImpl lease);

    /** The loss of a lease that is lost, or whose time is over although no timer has run. */
    LeaseLostException loss(LeaseImpl lease);

    void onLost(LeaseImpl lease, Consumer<? super LeaseLostException> listener);

    void forget(LeaseImpl lease, Consumer<? super LeaseLostException> listener);

    /** The attempt of an exclusive lease; null once that has ended. Refuses other modes. */
    @Nullable AttemptId fencedAttempt(LeaseImpl lease);

    void extend(LeaseImpl lease, Duration atMost);

    void keepShut(LeaseImpl lease, Duration atLeast);

    void downgrade(LeaseImpl lease);

    /** Gives the lease up. Returns the end to wait for; null if there is none. */
    @Nullable PendingRelease release(LeaseImpl lease, boolean quietly);

    /** The holder of a lost lease has stopped. Returns true once: this call reports the loss. */
    boolean settle(LeaseImpl lease);

    /** Blocks until the store has answered, or is known not to answer. */
    void await(PendingRelease pendingRelease, long deadline);

    void giveUp(PendingRelease pendingRelease);

    CompletableFuture<Void> future(PendingRelease pendingRelease);

    /** The loss known only from the answer to the lease's release; null if there is none. */
    @Nullable LeaseLostException lossBeforeRelease(
        LeaseImpl lease, Reply.EndReason how, boolean forgotten);
  }

  private LeaseImpl(
      LockName name, Validity validity, long token, @Nullable Thread caller, boolean releaseAsync) {
    this.lockName = name;
    this.validity = validity;
    this.token = token;
    this.caller = caller;
    this.releaseAsync = releaseAsync;
  }

  /**
   * An open lease.
   *
   * @param caller the holding thread; null for an asynchronous acquire, whose thread may serve
   *     others meanwhile
   * @param acquire notifies listeners of it; null if there are none
   */
  public static LeaseImpl open(
      LockName name,
      Validity validity,
      long token,
      @Nullable Thread caller,
      boolean releaseAsync,
      @Nullable AcquireTrace acquire) {
    return acquire == null
        ? new LeaseImpl(name, validity, token, caller, releaseAsync)
        : new TracedLease(name, validity, token, caller, releaseAsync, acquire);
  }

  public LockName lockName() {
    return lockName;
  }

  /** The thread that acquired it, while it holds; null for an asynchronous acquire. */
  @Nullable Thread caller() {
    return caller;
  }

  @Override
  public String name() {
    return lockName.value();
  }

  @Override
  public long token() {
    requireTokens();
    // At the deadline, not when the loss was noticed: no caller may use the token as a current one.
    if (isLost() || (open && validity.isOver())) {
      throw operations().invalid(this);
    }
    return token;
  }

  private void requireTokens() {
    if (!hasToken()) {
      throw new UnsupportedByStoreException(
          String.format(
              "The lease on lock '%s' has no fencing token, for its store mints none (store=%s). Where double work"
                  + " does harm, use a store that does.",
              lockName, storeName()));
    }
  }

  @Override
  public FencingToken fencingToken() {
    requireTokens();
    AttemptId attempt = operations().fencedAttempt(this);
    long held = token();
    if (attempt == null) {
      throw closed();
    }
    return new FencingToken(name(), held, attempt.encoded());
  }

  /** Notifies listeners of its release, if this thread has made it. */
  public void tellRelease() {}

  /** The trace that notifies listeners; null if there are none. */
  public @Nullable LeaseTrace trace() {
    return null;
  }

  public long rawToken() {
    return token;
  }

  public boolean hasToken() {
    return operations().settings().hasTokens();
  }

  /** The store's name in messages. */
  public String storeName() {
    return operations().settings().storeName();
  }

  /** The token for messages. */
  public String tokenText() {
    return hasToken() ? Long.toString(token) : "none";
  }

  public Validity validity() {
    return validity;
  }

  public void validity(Validity next) {
    validity = next;
  }

  public boolean isOpen() {
    return open;
  }

  public boolean isLost() {
    return !open && lost;
  }

  @Override
  public State state() {
    long left = validity.leftNanos();
    if (!open) {
      return lost ? State.LOST : State.RELEASED;
    } else if (validity instanceof Validity.Unconfirmed) {
      return State.SUSPECT;
    }
    if (left <= 0) {
      return State.LOST;
    }
    return left < operations().settings().env().ttlNanos() / 3
            && !(validity instanceof Validity.Capped)
        ? State.SUSPECT
        : State.HELD;
  }

  @Override
  public boolean isValid() {
    // The clock first, the state last: a loss during a pause of the thread in between must show.
    return !validity.isOver() && open;
  }

  @Override
  public Duration remaining() {
    long left = validity.leftNanos();
    return left > 0 && open ? Duration.ofNanos(left) : Duration.ZERO;
  }

  @Override
  public void ensureValid() {
    if (isValid()) {
      return;
    }
    if (!open && !lost) {
      throw closed();
    }
    throw operations().invalid(this);
  }

  private IllegalStateException closed() {
    return new IllegalStateException("The lease on lock '" + lockName + "' was closed.");
  }

  @Override
  public void onLost(Consumer<? super LeaseLostException> listener) {
    operations().onLost(this, Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task)
      throws X {
    return new InterruptibleScope(this).run(Objects.requireNonNull(task, "task"));
  }

  @Override
  public void extend(Duration atMost) {
    operations().extend(this, Objects.requireNonNull(atMost, "atMost"));
  }

  @Override
  public void keepShut(Duration atLeast) {
    operations().keepShut(this, Objects.requireNonNull(atLeast, "atLeast"));
  }

  @Override
  public void downgrade() {
    operations().downgrade(this);
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    PendingRelease pendingRelease = operations().release(this, false);
    if (pendingRelease == null && isLost() && operations().settle(this)) {
      return CompletableFuture.failedFuture(loss());
    } else if (pendingRelease == null) {
      return CompletableFuture.completedFuture(null);
    }
    return operations().future(pendingRelease).thenAccept(ignored -> checkEnd(pendingRelease));
  }

  @Override
  public void close() {
    if (open || lost) {
      Operations operations = operations();
      PendingRelease pendingRelease = operations.release(this, releaseAsync);
      long deadline = pendingRelease == null ? 0 : closeDeadline(operations);
      finishClose(operations, pendingRelease, deadline);
    }
  }

  /**
   * Sends the release.
   *
   * @return waits for its answer, as {@link #close} does; several releases can be awaited together
   */
  public Runnable startClose() {
    if (!open && !lost) {
      return () -> {};
    }
    Operations operations = operations();
    PendingRelease pendingRelease = operations.release(this, releaseAsync);
    long deadline = closeDeadline(operations);
    return () -> finishClose(operations, pendingRelease, deadline);
  }

  private static long closeDeadline(Operations operations) {
    EngineSettings settings = operations.settings();
    return settings.now() + 2 * settings.tryNanos();
  }

  private void finishClose(
      Operations operations, @Nullable PendingRelease pendingRelease, long deadline) {
    if (pendingRelease != null) {
      if (releaseAsync) {
        operations.giveUp(pendingRelease);
      } else {
        operations.await(pendingRelease, deadline);
      }
      checkEnd(pendingRelease);
    } else if (isLost() && operations.settle(this)) {
      // A separate exception: the body may be throwing the other, which cannot suppress itself.
      LeaseLostException loss = loss();
      throw new LeaseLostException(String.valueOf(loss.getMessage()), loss.end());
    }
  }

  /** Throws if the store's answer to the release shows that the lease had been lost before. */
  void checkEnd(PendingRelease pendingRelease) {
    Reply.EndReason how = pendingRelease.how();
    LeaseLostException loss =
        operations()
            .lossBeforeRelease(
                this, how == null ? Reply.EndReason.UNKNOWN : how, pendingRelease.isForgotten());
    if (loss != null) {
      throw loss;
    }
  }

  private Operations operations() {
    return Operations.of(validity.session());
  }

  @Override
  public LeaseLostException loss() {
    return operations().loss(this);
  }

  @Override
  public void forgetLost(Consumer<? super LeaseLostException> listener) {
    operations().forget(this, listener);
  }

  // The methods below are called under the stripe's lock.

  public void released() {
    open = false;
    caller = null;
    lossOrListeners = null;
  }

  /** Records the loss shown by the answer to its release; the releasing call reports it. */
  public void lostBeforeRelease(LeaseLostException loss) {
    lossOrListeners = loss;
    reported = true;
    lost = true;
  }

  /** Whether this call is to report the loss; true once. */
  public boolean takeReport() {
    boolean first = !reported;
    reported = true;
    return first;
  }

  /** Returns the listeners to call, with no lock held. */
  @SuppressWarnings("unchecked")
  public List<Consumer<? super LeaseLostException>> lost(LeaseLostException loss) {
    this.lost = true;
    open = false;
    caller = null;
    List<Consumer<? super LeaseLostException>> told =
        lossOrListeners == null
            ? List.of()
            : (List<Consumer<? super LeaseLostException>>) lossOrListeners;
    lossOrListeners = loss;
    return told;
  }

  public @Nullable LeaseLostException lossOrNull() {
    return lossOrListeners instanceof LeaseLostException loss ? loss : null;
  }

  @SuppressWarnings("unchecked")
  public void addListener(Consumer<? super LeaseLostException> listener) {
    if (lossOrListeners == null) {
      lossOrListeners = new ArrayList<Consumer<? super LeaseLostException>>(1);
    }
    ((List<Consumer<? super LeaseLostException>>) lossOrListeners).add(listener);
  }

  public void removeListener(Consumer<? super LeaseLostException> listener) {
    if (lossOrListeners instanceof List<?> listeners) {
      listeners.remove(listener);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + lockName + ", token=" + tokenText() + ", " + state() + "]";
  }

  /**
   * A lease whose end is reported to listeners. A separate class, so that a lease without listeners
   * takes no more memory.
   */
  private static final class TracedLease extends LeaseImpl {
    private final LeaseTrace trace;

    TracedLease(
        LockName name,
        Validity validity,
        long token,
        @Nullable Thread caller,
        boolean releaseAsync,
        AcquireTrace acquire) {
      super(name, validity, token, caller, releaseAsync);
      this.trace = acquire.lease();
    }

    @Override
    public LeaseTrace trace() {
      return trace;
    }

    @Override
    public void close() {
      try {
        super.close();
      } finally {
        tellRelease();
      }
    }

    @Override
    public Runnable startClose() {
      Runnable close = super.startClose();
      return () -> {
        try {
          close.run();
        } finally {
          tellRelease();
        }
      };
    }

    @Override
    public void tellRelease() {
      if (trace.takeRelease()) {
        trace.tellRelease();
      }
    }

    @Override
    public CompletableFuture<Void> releaseAsync() {
      CompletableFuture<Void> done = super.releaseAsync();
      return trace.takeRelease() ? done.whenComplete((ignored, loss) -> trace.tellRelease()) : done;
    }

    @Override
    void checkEnd(PendingRelease pendingRelease) {
      try {
        super.checkEnd(pendingRelease);
      } catch (LeaseLostException e) {
        trace.endedBefore(e.end(), String.valueOf(e.getMessage()));
        throw e;
      }
    }
  }
}
