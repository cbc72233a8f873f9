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
 * A caller of this process that waits for a lock: a parked thread, or a listener if there is no
 * thread. Everything but {@link #waiterState} is guarded by the stripe.
 */
public final class Waiter {
  /** A time that never comes. */
  public static final long ENDLESS = Long.MAX_VALUE;

  private final LockName name;
  private final Mode mode;
  private final LockOptions options;
  private final boolean tryOnly;
  private final boolean endless;

  /** The begin of its wait, if the wait has a limit. */
  private long arrivedAt;

  private final Thread caller;
  private final @Nullable Runnable listener;

  private volatile WaiterState waiterState = WaiterState.WAITING;

  /** Whether its thread was woken, and has not checked its state since. */
  private volatile boolean called;

  private @Nullable AcquireTrace trace;
  private boolean admitted;
  private @Nullable LeaseImpl lease;
  private @Nullable RuntimeException failure;
  private @Nullable Throwable storeFailure;
  private @Nullable StoreUnavailableException unanswered;
  private boolean held;
  private @Nullable AttemptId heldElsewhere;

  // Its place in a ring. Only the ring writes it.
  private @Nullable Ring ring;
  private @Nullable Waiter next;
  private @Nullable Waiter previous;

  /** The states of a wait. */
  public enum WaiterState {
    WAITING,
    GRANTED,
    /** Another holds the lock, and this waiter is a try. */
    BUSY,
    FAILED,
    CANCELLED
  }

  /**
   * Waiters in order of arrival. A ring through the waiters themselves, because a lock may have
   * thousands. Guarded by the stripe.
   */
  abstract static class Ring {
    /** The longest waiting waiter; its {@code previous} is the tail. */
    private @Nullable Waiter head;

    /** The number of fair waiters. */
    private int fair;

    final @Nullable Waiter head() {
      return head;
    }

    /** The next waiter; null after the last. */
    final @Nullable Waiter after(Waiter waiter) {
      return waiter.next == head ? null : waiter.next;
    }

    final boolean hasSeveral() {
      return head != null && head.next != head;
    }

    /** Whether there is a fair waiter, which no newcomer may pass. */
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
   * @param tryOnly whether an answer ends it, even without the lock
   * @param endless whether it is refused if it waits for itself
   * @param listener called after a change of state, with no lock held; null to unpark the calling
   *     thread
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

  /** Records the begin of a wait that has a limit. */
  public void arrive(long now) {
    arrivedAt = now;
  }

  /** The begin of the wait, if it has a limit. */
  public long arrivedAt() {
    return arrivedAt;
  }

  /** Whether an answer ends it, even without the lock. */
  public boolean isTry() {
    return tryOnly;
  }

  /** The part of the lock that it waits for. */
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

  /** The thread that created it, which need not wait in it: see {@link #isThread}. */
  public Thread caller() {
    return caller;
  }

  /** The ring where it stands; null if there is none. */
  @Nullable Ring ring() {
    return ring;
  }

  /** The trace that notifies listeners; null if there are none. */
  public @Nullable AcquireTrace trace() {
    return trace;
  }

  /** Sets the trace that notifies listeners; called before the wait begins. */
  public void traced(AcquireTrace acquireTrace) {
    trace = acquireTrace;
  }

  /** Whether it may wait with any number of waiters: it has no limit, or was within its limit. */
  public boolean isAdmitted() {
    return admitted;
  }

  public void admit() {
    admitted = true;
  }

  /** Whether it may be refused under a condition, such as a number of waiters. */
  public boolean isConditional() {
    return !admitted || options.fair();
  }

  /**
   * Records the holder that the store named last.
   *
   * @param elsewhere its attempt if it is of another client
   */
  void noteHolder(boolean named, @Nullable AttemptId elsewhere) {
    held = named;
    heldElsewhere = elsewhere;
  }

  /** Whether the store's last answer named a holder, of this client or another. */
  boolean isHeld() {
    return held;
  }

  /** The holder of another client that the store named last; null if it named none. */
  @Nullable AttemptId heldElsewhere() {
    return heldElsewhere;
  }

  /** The state of the wait. */
  public WaiterState state() {
    return waiterState;
  }

  /** The granted lease; valid only once it is granted. */
  public LeaseImpl lease() {
    return Objects.requireNonNull(lease);
  }

  public @Nullable RuntimeException failure() {
    return failure;
  }

  /** The store's failure when the wait was cancelled; null if there was none. */
  public @Nullable Throwable storeFailure() {
    return storeFailure;
  }

  /** The part of the wait without an answer of the store; null if that was less than half of it. */
  public @Nullable StoreUnavailableException unanswered() {
    return unanswered;
  }

  /** Whether it was refused because too many waited already. */
  public boolean isRefusedByFullQueue() {
    return failure instanceof LockTimeoutException;
  }

  /** Whether a thread waits in it: the caller's. */
  public boolean isThread() {
    return listener == null;
  }

  public boolean isDone() {
    return waiterState != WaiterState.WAITING;
  }

  // Ends the wait with a grant. The state is written last: its caller reads it without the lock.

  public void grant(LeaseImpl granted) {
    lease = granted;
    waiterState = WaiterState.GRANTED;
  }

  /** Ends a try: another holds the lock. */
  public void busy() {
    waiterState = WaiterState.BUSY;
  }

  public void fail(RuntimeException with) {
    failure = with;
    waiterState = WaiterState.FAILED;
  }

  /**
   * Ends the wait for its caller.
   *
   * @param why the store's latest failure; null if there is none
   * @param silence the part of the wait without an answer of the store
   */
  public void cancel(@Nullable Throwable why, @Nullable StoreUnavailableException silence) {
    storeFailure = why;
    unanswered = silence;
    waiterState = WaiterState.CANCELLED;
  }

  /** Records that a cancelled try was not decided in time, unless more is known. */
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
   * Parks the calling thread until it is woken, or spuriously. Returns at once if it was woken
   * since it last parked here: other code may have parked meanwhile, and used up the permit.
   *
   * @param nanos the time limit; {@link #ENDLESS} for none
   */
  public void park(long nanos) {
    if (!called && nanos == ENDLESS) {
      LockSupport.park(this);
    } else if (!called) {
      LockSupport.parkNanos(this, nanos);
    }
    // Reset before the state is read: a later wake-up is a new one.
    called = false;
  }

  /** The failure with this thread's stack trace: a shared exception would show another's. */
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
