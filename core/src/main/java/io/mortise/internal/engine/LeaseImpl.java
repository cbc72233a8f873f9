package io.mortise.internal.engine;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.function.CheckedSupplier;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.session.Validity;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease of this process. State, listeners and validity change under the stripe's lock; asking
 * takes no lock.
 */
public sealed class LeaseImpl implements Lease permits TracedLease {
  final Claim claim;
  private final long token;
  private final boolean releaseAsync;

  /** The thread that acquired it, while it holds: to see that it waits for itself. */
  @Nullable Thread caller;

  private volatile Validity validity;

  /** Until it is released or lost, whatever the clock says. Flags take less room than a state. */
  private volatile boolean open = true;

  /** Tells what ended it, for ever; written before {@link #open} if a loss ends it. */
  private volatile boolean lost;

  /** Whether a call that released the lease has reported its loss. Under the stripe's lock. */
  private boolean reported;

  /** A {@link LeaseLostException} once lost; before that a list of listeners, if there is any. */
  private @Nullable Object lossOrListeners;

  LeaseImpl(Claim claim, Validity validity, long token, Waiter waiter) {
    this.claim = claim;
    this.validity = validity;
    this.token = token;
    // The thread of an asynchronous acquire does not hold: it may serve others meanwhile.
    this.caller = waiter.isThread() ? waiter.caller : null;
    this.releaseAsync = waiter.options.releaseAsync();
  }

  @Override
  public String name() {
    return claim.name.value();
  }

  @Override
  public long token() {
    requireTokens();
    // At the deadline, not when the loss has been noticed: nobody may take it for a current one.
    if (isLost() || (open && validity.isOver())) {
      throw engine().lossProtocol.invalid(this);
    }
    return token;
  }

  private void requireTokens() {
    if (!engine().hasTokens) {
      throw new UnsupportedByStoreException(
          String.format(
              "The lease on lock '%s' has no fencing token, for its store mints none (store=%s). Where double work"
                  + " does harm, use a store that does.",
              claim.name, engine().storeName()));
    }
  }

  @Override
  public FencingToken fencingToken() {
    requireTokens();
    if (!claim.mode.equals(Mode.EXCLUSIVE)) {
      throw new IllegalStateException(
          String.format(
              "The lease on lock '%s' is shared or one of permits: others hold at the same time, and tokens do not"
                  + " order them. Fence with an exclusive lease.",
              claim.name));
    }
    AttemptId attempt = engine().attempt(this);
    long held = token();
    if (attempt == null) {
      throw closed();
    }
    return new FencingToken(name(), held, attempt.encoded());
  }

  /** Tells listeners of its release, if this thread has made it. */
  void tellRelease() {}

  /** Tells listeners of it; null if there are none. */
  @Nullable LeaseTrace trace() {
    return null;
  }

  public long rawToken() {
    return token;
  }

  public boolean hasToken() {
    return engine().hasTokens;
  }

  /** For messages. */
  String tokenText() {
    return engine().hasTokens ? Long.toString(token) : "none";
  }

  Validity validity() {
    return validity;
  }

  void validity(Validity next) {
    validity = next;
  }

  boolean isOpen() {
    return open;
  }

  boolean isLost() {
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
    return left < engine().env.ttlNanos() / 3 && !(validity instanceof Validity.Capped)
        ? State.SUSPECT
        : State.HELD;
  }

  @Override
  public boolean isValid() {
    // The clock first, the state last: were the thread stopped in between, a loss meanwhile must
    // show.
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
    throw engine().lossProtocol.invalid(this);
  }

  private IllegalStateException closed() {
    return new IllegalStateException("The lease on lock '" + claim.name + "' was closed.");
  }

  @Override
  public void onLost(Consumer<? super LeaseLostException> listener) {
    engine().lossProtocol.onLost(this, Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task)
      throws X {
    return new InterruptibleScope(this).run(Objects.requireNonNull(task, "task"));
  }

  @Override
  public void extend(Duration atMost) {
    engine().adjustProtocol.extend(this, Objects.requireNonNull(atMost, "atMost"));
  }

  @Override
  public void keepShut(Duration atLeast) {
    engine().adjustProtocol.keepShut(this, Objects.requireNonNull(atLeast, "atLeast"));
  }

  @Override
  public void downgrade() {
    engine().adjustProtocol.downgrade(this);
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    PendingRelease pendingRelease = engine().release(this, false);
    if (pendingRelease == null && isLost() && engine().lossProtocol.settle(this)) {
      return CompletableFuture.failedFuture(loss());
    } else if (pendingRelease == null) {
      return CompletableFuture.completedFuture(null);
    }
    return engine()
        .releaseProtocol
        .future(pendingRelease)
        .thenAccept(ignored -> checkEnd(pendingRelease));
  }

  @Override
  public void close() {
    if (open || lost) {
      PendingRelease pendingRelease = engine().release(this, releaseAsync);
      finishClose(pendingRelease, pendingRelease == null ? 0 : closeDeadline());
    }
  }

  /**
   * Sends the release.
   *
   * @return waits for its answer, as {@link #close} does; several wait together
   */
  public Runnable startClose() {
    if (!open && !lost) {
      return () -> {};
    }
    PendingRelease pendingRelease = engine().release(this, releaseAsync);
    long deadline = closeDeadline();
    return () -> finishClose(pendingRelease, deadline);
  }

  private long closeDeadline() {
    return engine().env.now() + 2 * engine().tryNanos();
  }

  private void finishClose(@Nullable PendingRelease pendingRelease, long deadline) {
    if (pendingRelease != null) {
      if (releaseAsync) {
        engine().releaseProtocol.giveUp(pendingRelease);
      } else {
        engine().releaseProtocol.await(pendingRelease, deadline);
      }
      checkEnd(pendingRelease);
    } else if (isLost() && engine().lossProtocol.settle(this)) {
      // One of its own: the body may be throwing the other, which cannot suppress itself.
      LeaseLostException loss = loss();
      throw new LeaseLostException(String.valueOf(loss.getMessage()), loss.end());
    }
  }

  /** Throws if the store's answer to the release shows that the lease had been lost before. */
  void checkEnd(PendingRelease pendingRelease) {
    Reply.EndReason how = pendingRelease.how();
    LeaseLostException loss =
        engine()
            .lossProtocol
            .lossBeforeRelease(
                this, how == null ? Reply.EndReason.UNKNOWN : how, pendingRelease.forgotten);
    if (loss != null) {
      throw loss;
    }
  }

  final Engine engine() {
    return Engine.of(validity.session());
  }

  private LeaseLostException loss() {
    return engine().lossProtocol.loss(this);
  }

  // Below: under the stripe's lock.

  void released() {
    open = false;
    caller = null;
    lossOrListeners = null;
  }

  /** The loss that the answer to its release has shown, and that the releasing call reports. */
  void lostBeforeRelease(LeaseLostException loss) {
    lossOrListeners = loss;
    reported = true;
    lost = true;
  }

  /** Whether this call is to report the loss; true once. */
  boolean takeReport() {
    boolean first = !reported;
    reported = true;
    return first;
  }

  /** Returns what is to be called, with no lock held. */
  @SuppressWarnings("unchecked")
  List<Consumer<? super LeaseLostException>> lost(LeaseLostException loss) {
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

  @Nullable LeaseLostException lossOrNull() {
    return lossOrListeners instanceof LeaseLostException loss ? loss : null;
  }

  @SuppressWarnings("unchecked")
  void addListener(Consumer<? super LeaseLostException> listener) {
    if (lossOrListeners == null) {
      lossOrListeners = new ArrayList<Consumer<? super LeaseLostException>>(1);
    }
    ((List<Consumer<? super LeaseLostException>>) lossOrListeners).add(listener);
  }

  void removeListener(Consumer<? super LeaseLostException> listener) {
    if (lossOrListeners instanceof List<?> listeners) {
      listeners.remove(listener);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + claim.name + ", token=" + tokenText() + ", " + state() + "]";
  }
}
