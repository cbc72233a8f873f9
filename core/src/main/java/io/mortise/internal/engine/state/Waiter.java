package io.mortise.internal.engine.state;

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

  private final LockName name;
  private final Mode mode;
  private final LockOptions options;
  private final boolean tryOnly;
  private final boolean endless;

  /** When its wait began, if that is to end at some time. */
  private long arrivedAt;

  private final Thread caller;
  private final @Nullable Runnable listener;

  private volatile WaiterState waiterState = WaiterState.WAITING;

  /** Whether its thread was woken, and has not come to look since. */
  private volatile boolean called;

  private @Nullable AcquireTrace trace;
  private boolean admitted;
  private @Nullable LeaseImpl lease;
  private @Nullable RuntimeException failure;
  private @Nullable Throwable storeFailure;
  private @Nullable StoreUnavailableException unanswered;
  private boolean held;
  private @Nullable AttemptId heldElsewhere;

  // Its place in a ring. Written by the ring alone.
  private @Nullable Ring ring;
  private @Nullable Waiter next;
  private @Nullable Waiter previous;

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
   * Waiters in the order in which they came. A ring through the waiters themselves, since a lock
   * may have thousands. Guarded by the stripe.
   */
  abstract static class Ring {
    /** The one who has waited longest; its {@code previous} is the tail. */
    private @Nullable Waiter head;

    /** How many of them are fair. */
    private int fair;

    final @Nullable Waiter head() {
      return head;
    }

    /** The waiter that came after another; null after the last. */
    final @Nullable Waiter after(Waiter waiter) {
      return waiter.next == head ? null : waiter.next;
    }

    final boolean hasSeveral() {
      return head != null && head.next != head;
    }

    /** Whether there is a waiter that nobody may pass. */
    final boolean hasFair() {
      return fair > 0;
    }

    final void add(Waiter waiter) {
      waiter.ring = this;
      fair += waiter.options.fair() ? 1 : 0;
      Waiter first = head;
      if (first == null) {
        waiter.next = waiter;
        waiter.previous = waiter;
        head = waiter;
        return;
      }
      Waiter last = Objects.requireNonNull(first.previous);
      last.next = waiter;
      waiter.previous = last;
      waiter.next = first;
      first.previous = waiter;
    }

    final void remove(Waiter waiter) {
      fair -= waiter.options.fair() ? 1 : 0;
      Waiter after = Objects.requireNonNull(waiter.next);
      if (after == waiter) {
        head = null;
      } else {
        Waiter before = Objects.requireNonNull(waiter.previous);
        before.next = after;
        after.previous = before;
        if (head == waiter) {
          head = after;
        }
      }
      waiter.next = null;
      waiter.previous = null;
      waiter.ring = null;
    }
  }

  /**
   * @param tryOnly whether it wants an answer, not the lock at some time
   * @param endless whether it is refused if it waits for itself
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

  public LockName name() {
    return name;
  }

  public LockOptions options() {
    return options;
  }

  /** Whether it is refused if it waits for itself. */
  public boolean isEndless() {
    return endless;
  }

  /** The thread that has made it, which need not wait in it: see {@link #isThread}. */
  public Thread caller() {
    return caller;
  }

  /** Where it stands; null if it stands nowhere. */
  @Nullable Ring ring() {
    return ring;
  }

  /** What tells listeners of it; null if there are none. */
  public @Nullable AcquireTrace trace() {
    return trace;
  }

  /** Before the wait begins: tells listeners of it. */
  public void traced(AcquireTrace acquireTrace) {
    trace = acquireTrace;
  }

  /** Whether it may wait, however many do: it has no limit, or its limit was met. */
  public boolean isAdmitted() {
    return admitted;
  }

  public void admit() {
    admitted = true;
  }

  /** Whether it is to be refused in some cases, and not to wait however many do. */
  public boolean isConditional() {
    return !admitted || options.fair();
  }

  /**
   * Notes the holder that the store has last named.
   *
   * @param elsewhere its attempt if it is of another client
   */
  void noteHolder(boolean named, @Nullable AttemptId elsewhere) {
    held = named;
    heldElsewhere = elsewhere;
  }

  /** Whether the store has last named a holder, of this client or another. */
  boolean isHeld() {
    return held;
  }

  /** The holder of another client that the store has last named; null if it named none. */
  @Nullable AttemptId heldElsewhere() {
    return heldElsewhere;
  }

  /** What has become of the wait. */
  public WaiterState state() {
    return waiterState;
  }

  /** What was granted; to be asked for once it is. */
  public LeaseImpl lease() {
    return Objects.requireNonNull(lease);
  }

  public @Nullable RuntimeException failure() {
    return failure;
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
  public boolean isThread() {
    return listener == null;
  }

  /** Whether the wait is over. */
  public boolean isDone() {
    return waiterState != WaiterState.WAITING;
  }

  // How the wait ends. The state goes last: its caller reads it without the lock.

  public void grant(LeaseImpl granted) {
    lease = granted;
    waiterState = WaiterState.GRANTED;
  }

  /** Another holds the lock, and it wanted to know just that. */
  public void busy() {
    waiterState = WaiterState.BUSY;
  }

  public void fail(RuntimeException with) {
    failure = with;
    waiterState = WaiterState.FAILED;
  }

  /**
   * Its caller ends the wait.
   *
   * @param why the store could not be asked lately; null if it could
   * @param silence for how much of the wait the store gave no answer
   */
  public void cancel(@Nullable Throwable why, @Nullable StoreUnavailableException silence) {
    storeFailure = why;
    unanswered = silence;
    waiterState = WaiterState.CANCELLED;
  }

  /** A cancelled try was not decided in time, unless more is known. */
  public void notDecided(Throwable why) {
    storeFailure = storeFailure == null ? why : storeFailure;
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
