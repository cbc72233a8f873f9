package io.mortise.internal.engine;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.event.AcquireTrace;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Somebody of this process who waits for a lock: a parked thread or, where there is none, a
 * listener. Everything but {@link #waiterState} is guarded by the stripe.
 */
public final class Waiter {
  /** A time that never comes. */
  public static final long ENDLESS = Long.MAX_VALUE;

  final LockName name;
  final Mode mode;
  final LockOptions options;

  /** Wants an answer, not the lock at some time. */
  final boolean tryOnly;

  /** Refused if it waits for itself. */
  final boolean endless;

  /** When its wait began, if that is to end at some time. */
  private long arrivedAt;

  final Thread caller;
  private final @Nullable Runnable listener;

  volatile WaiterState waiterState = WaiterState.WAITING;

  /** Whether its thread was woken, and has not come to look since. */
  private volatile boolean called;

  /** Tells listeners of it; null if there are none. Set before the wait begins. */
  @Nullable AcquireTrace trace;

  /** It may wait, however many do: no limit, or it was met when its wait began. */
  boolean admitted;

  @Nullable LeaseImpl lease;
  @Nullable RuntimeException failure;

  /** Why the store could not be asked lately, if so. */
  @Nullable Throwable storeFailure;

  /** For how much of the wait the store gave no answer; null if that was less than half of it. */
  @Nullable StoreUnavailableException unanswered;

  /** Whether the store has last named a holder, of this client or another. */
  boolean held;

  /** The holder of another client that the store has last named; null if it named none. */
  @Nullable AttemptId heldElsewhere;

  @Nullable Claim claim;
  @Nullable Waiter next;
  @Nullable Waiter previous;

  /** What becomes of a wait. */
  public enum WaiterState {
    WAITING,
    GRANTED,
    /** Somebody else has it, and this one wanted to know just that. */
    BUSY,
    FAILED,
    CANCELLED
  }

  /**
   * @param listener called when the state has changed, with no lock held; null to unpark the
   *     calling thread
   */
  public Waiter(
      LockName name,
      Mode mode,
      LockOptions options,
      boolean tryOnly,
      boolean endless,
      @Nullable Runnable listener) {
    this.name = name;
    this.mode = mode;
    this.options = options;
    this.tryOnly = tryOnly;
    this.endless = endless;
    this.admitted = tryOnly || options.maxWaiters().isEmpty();
    this.caller = Thread.currentThread();
    this.listener = listener;
  }

  /** Notes when the wait began, which is to end at some time. */
  public void arrive(long now) {
    arrivedAt = now;
  }

  /** When the wait began, if it is to end at some time. */
  public long arrivedAt() {
    return arrivedAt;
  }

  /** Whether it wants an answer, and not the lock at some time. */
  public boolean isTry() {
    return tryOnly;
  }

  /** How much of the lock it waits for. */
  public Mode mode() {
    return mode;
  }

  /** Notes which holder the store has last named to the claim that it waits under. */
  void noteHolder(Claim asked) {
    Reply.Holder holder = asked.inTheWay();
    held = holder != null;
    heldElsewhere =
        holder == null || asked.isOfSession(holder.attempt().session()) ? null : holder.attempt();
  }

  /** What has become of the wait. */
  public WaiterState state() {
    return waiterState;
  }

  /** What was granted; to be asked for once it is. */
  public LeaseImpl lease() {
    return Objects.requireNonNull(lease);
  }

  /** Why the store could not be asked when the wait was cancelled; null if it could. */
  public @Nullable Throwable storeFailure() {
    return storeFailure;
  }

  /** For how much of the wait the store gave no answer; null if that was less than half of it. */
  public @Nullable StoreUnavailableException unanswered() {
    return unanswered;
  }

  /** Whether it was refused, since too many waited already. */
  public boolean isRefusedByFullQueue() {
    return failure instanceof LockTimeoutException;
  }

  /** Whether a thread waits in it, the caller's. */
  boolean isThread() {
    return listener == null;
  }

  /** Whether the wait is over. */
  public boolean isDone() {
    return waiterState != WaiterState.WAITING;
  }

  void fail(RuntimeException with) {
    failure = with;
    waiterState = WaiterState.FAILED;
  }

  void wake() {
    if (listener == null) {
      called = true;
      LockSupport.unpark(caller);
    } else {
      listener.run();
    }
  }

  /**
   * Parks the calling thread until it is woken, or for no reason. Returns at once if it was woken
   * since it last parked here: what it did meanwhile may have parked too, and used that up.
   *
   * @param nanos at most; {@link #ENDLESS} for no limit
   */
  public void park(long nanos) {
    if (!called && nanos == ENDLESS) {
      LockSupport.park(this);
    } else if (!called) {
      LockSupport.parkNanos(this, nanos);
    }
    // Before it is looked at what there is to see: what comes after this is another call.
    called = false;
  }

  /**
   * The failure, as an exception of this thread's own: a shared one would show another's stack
   * trace.
   */
  public RuntimeException failureHere() {
    RuntimeException shared = Objects.requireNonNull(failure);
    String message = String.valueOf(shared.getMessage());
    if (shared instanceof LockTimeoutException full) {
      LockTimeoutException own = new LockTimeoutException(message, full.waiting().orElseThrow());
      own.initCause(full);
      return own;
    } else if (shared instanceof StoreUnavailableException) {
      return new StoreUnavailableException(message, shared);
    } else if (shared instanceof StoreUnfitException) {
      return new StoreUnfitException(message, shared);
    } else if (shared instanceof UnsupportedByStoreException) {
      return new UnsupportedByStoreException(message, shared);
    }
    return new LockException(message, shared);
  }
}
