package io.mortise.support.outer;

import io.mortise.JavaLock;
import io.mortise.Lease;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.OuterLocks;
import io.mortise.UnsupportedByStoreException;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outer lock of one attempt, and the thread that owns it: it takes the lock, waits until the
 * attempt has ended, and releases it. Thread-safe.
 *
 * <p>Requests leave for the store under the guard, so that none follows the end of the attempt.
 */
final class OuterHold {
  private static final Logger log = LoggerFactory.getLogger(OuterHold.class);

  /** A waiting attempt is told by a hint, and need not ask earlier. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(5);

  private static final Duration TRY_AGAIN = Duration.ofMillis(500);

  /** The longest single wait for the outer lock; another follows. */
  private static final long WAIT_MINUTES = 60;

  private final LockName name;
  private final AttemptId attempt;
  private final Lock lock;
  private final @Nullable Duration askedAtLeast;
  private final long checkNanos;
  private final Ticker ticker;
  private final Consumer<SessionNotification> hints;
  private final AcquireSender sender;
  private final Consumer<OuterHold> onRelease;

  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();

  private Phase phase = Phase.TRYING;

  /** The requests that came during the try. */
  private final List<AskedAcquire> asked = new ArrayList<>();

  private final List<Runnable> afterRelease = new ArrayList<>();
  private @Nullable Thread owner;

  /** Why a wait has failed, until the next request is answered with it. */
  private @Nullable Throwable failure;

  private boolean isGranted;
  private volatile boolean isLost;
  private boolean isAbandoned;
  private boolean hasEnded;

  /** The end of the at-least time, which keeps the outer lock shut. */
  private volatile long shutUntil;

  /** Whether the client is being closed, which does not wait for the at-least time. */
  private boolean isClosing;

  /** Sends an acquire to the store. Called under the guard. */
  interface AcquireSender {
    void send(OuterHold hold, Request.Acquire request, Consumer<Reply> sink);
  }

  private record AskedAcquire(Request.Acquire request, Consumer<Reply> sink) {}

  private enum Phase {
    /** The thread tries once; requests gather. */
    TRYING,
    /** The thread waits for the outer lock. */
    WAITING,
    /** The outer lock was taken: requests go to the store. */
    HELD,
    /** It was released, or never taken. */
    RELEASED
  }

  /**
   * A hold that has not begun.
   *
   * @param onRelease called when the outer lock is not held any more, or was not taken; quick, as
   *     it may be called under the guard, and more than once
   */
  OuterHold(
      Request.Acquire request,
      Lock lock,
      Duration ttl,
      Ticker ticker,
      Consumer<SessionNotification> hints,
      AcquireSender sender,
      Consumer<OuterHold> onRelease) {
    this.name = request.name();
    this.attempt = request.attempt();
    this.askedAtLeast = request.terms().atLeast();
    this.lock = lock;
    this.checkNanos = ttl.toNanos() / 3;
    this.ticker = ticker;
    this.shutUntil = ticker.nanos();
    this.hints = hints;
    this.sender = sender;
    this.onRelease = onRelease;
  }

  AttemptId attempt() {
    return attempt;
  }

  /** Begins to take the outer lock, for a first request. */
  void begin(Request.Acquire request, Consumer<Reply> sink) {
    asked.add(new AskedAcquire(request, sink));
    try {
      DaemonThreads.create("mortise-outer", this::run).start();
    } catch (RuntimeException | Error e) {
      // No thread is left now.
      fail(e);
      released();
    }
  }

  /**
   * Handles a further request of the attempt.
   *
   * @return false if the outer lock is not held and nobody waits for it any more
   */
  boolean ask(Request.Acquire request, Consumer<Reply> sink) {
    Reply reply;
    guard.lock();
    try {
      if (isOver()) {
        reply = Refusals.ended(attempt);
      } else if (phase == Phase.RELEASED) {
        Throwable cause = failure;
        if (cause == null) {
          return false;
        }
        failure = null;
        onRelease.accept(this);
        reply = failed(request, cause);
      } else if (phase == Phase.TRYING) {
        asked.add(new AskedAcquire(request, sink));
        return true;
      } else if (phase == Phase.HELD) {
        sender.send(this, request, sink);
        return true;
      } else if (request.queue()) {
        reply = busy(request);
      } else {
        // Nobody waits any more, and the answer is not followed by an end.
        hasEnded = true;
        stopWaiting();
        afterRelease.add(() -> sink.accept(busy(request)));
        return true;
      }
    } finally {
      guard.unlock();
    }
    sink.accept(reply);
    return true;
  }

  private static Reply busy(Request.Acquire request) {
    return request.queue()
        ? new Reply.Queued(request.attempt(), 0, null, ASK_AGAIN)
        : new Reply.Busy(request.attempt(), null, TRY_AGAIN);
  }

  /**
   * The store has granted the attempt, or restarted its times.
   *
   * @param restarted the at-least time that runs from now; null if none was restarted
   * @return false if the outer lock was lost before
   */
  boolean granted(@Nullable Duration restarted) {
    guard.lock();
    try {
      if (isLost && !isGranted) {
        return false;
      }
      Duration atLeast = restarted == null && !isGranted ? askedAtLeast : restarted;
      if (atLeast != null) {
        shutUntil = ticker.nanos() + atLeast.toNanos();
        changed.signalAll();
      }
      isGranted = true;
      return true;
    } finally {
      guard.unlock();
    }
  }

  boolean isGranted() {
    guard.lock();
    try {
      return isGranted;
    } finally {
      guard.unlock();
    }
  }

  /** From now on no acquire of the attempt is sent to the store. */
  void abandon() {
    guard.lock();
    try {
      isAbandoned = true;
      stopWaiting();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Releases the outer lock, at the end of the at-least time if there is one.
   *
   * @param then called when it is released, or stays shut for that time alone
   */
  void end(Runnable then) {
    boolean isOver;
    guard.lock();
    try {
      hasEnded = true;
      stopWaiting();
      isOver = phase == Phase.RELEASED || (shutLeft() > 0 && !isClosing);
      if (!isOver) {
        afterRelease.add(then);
      } else if (phase == Phase.RELEASED) {
        // After a wait that failed, if no request came since.
        onRelease.accept(this);
      }
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    if (isOver) {
      then.run();
    }
  }

  /** As {@link #end}, at once: the other library is asked to keep the rest of the at-least time. */
  void endNow(Runnable then) {
    guard.lock();
    try {
      isClosing = true;
    } finally {
      guard.unlock();
    }
    end(then);
  }

  private long shutLeft() {
    return shutUntil - ticker.nanos();
  }

  private void stopWaiting() {
    if (owner != null) {
      owner.interrupt();
    }
  }

  // ---- The thread that owns the outer lock ----

  private void run() {
    boolean held = false;
    try {
      held = lock.tryLock();
      if (tried(held)) {
        held = await();
        if (held && waited()) {
          hints.accept(new SessionNotification.MayBeFree(name, attempt));
        }
      }
      while (held && !awaitEnd()) {
        // Told again and again: a grant that is not in use yet does not hear the first time.
        if ((isLost || !isStillHeld()) && lose()) {
          hints.accept(new SessionNotification.OuterLost(name, attempt));
        }
      }
    } catch (Throwable e) {
      if (!held && !isOver()) {
        fail(e);
        if (isOver()) {
          released();
        }
        return;
      }
      log.debug("The outer lock '{}' failed.", name, e);
    }
    if (held) {
      release();
    }
    released();
  }

  /** Handles the end of the try. Returns whether to wait. */
  private boolean tried(boolean held) {
    List<AskedAcquire> tried;
    boolean waits;
    boolean over;
    guard.lock();
    try {
      tried = List.copyOf(asked);
      asked.clear();
      over = isOver();
      waits = !held && !over && tried.stream().anyMatch(each -> each.request().queue());
      phase = held ? Phase.HELD : waits ? Phase.WAITING : Phase.RELEASED;
      if (held && !over) {
        tried.forEach(each -> sender.send(this, each.request(), each.sink()));
        return false;
      }
    } finally {
      guard.unlock();
    }
    if (!held && !waits) {
      onRelease.accept(this);
    }
    tried.forEach(
        each -> each.sink().accept(over ? Refusals.ended(attempt) : busy(each.request())));
    return waits;
  }

  /** Waits for the outer lock, until the attempt has ended. Only this wait is interrupted. */
  private boolean await() {
    waits(Thread.currentThread());
    try {
      while (!isOver()) {
        try {
          if (lock.tryLock(WAIT_MINUTES, TimeUnit.MINUTES)) {
            return true;
          }
        } catch (InterruptedException e) {
          // The attempt has ended.
        }
      }
    } finally {
      waits(null);
    }
    leaveQueue();
    return false;
  }

  /**
   * Redisson's fair lock keeps the place of a thread whose wait was interrupted, and nobody is
   * served until that place expires. A try that fails gives it up.
   */
  private void leaveQueue() {
    try {
      if (lock.tryLock(1, TimeUnit.MILLISECONDS)) {
        lock.unlock();
      }
    } catch (Throwable e) {
      log.debug("It is not known whether a place in the queue of '{}' was left.", name, e);
    }
  }

  private void waits(@Nullable Thread waiting) {
    guard.lock();
    try {
      owner = waiting;
      Thread.interrupted(); // an end that came too late
    } finally {
      guard.unlock();
    }
  }

  private boolean isOver() {
    guard.lock();
    try {
      return isAbandoned || hasEnded;
    } finally {
      guard.unlock();
    }
  }

  /** The outer lock was taken after a wait. Returns whether it is still wanted. */
  private boolean waited() {
    guard.lock();
    try {
      phase = Phase.HELD;
      return !isOver();
    } finally {
      guard.unlock();
    }
  }

  /** Waits for the attempt's end, or until the outer lock is to be looked at. */
  private boolean awaitEnd() throws InterruptedException {
    guard.lock();
    try {
      long left = checkNanos;
      while (!hasEnded || (shutLeft() > 0 && !isClosing)) {
        if (left <= 0) {
          return false;
        }
        long pause = hasEnded ? Math.min(left, shutLeft()) : left;
        left -= pause - changed.awaitNanos(pause);
      }
      return true;
    } finally {
      guard.unlock();
    }
  }

  private boolean isStillHeld() {
    try {
      if (lock instanceof OuterLocks.Checked checked) {
        return checked.isHeld();
      }
      return !(lock instanceof JavaLock own)
          || own.lease().map(lease -> lease.state() != Lease.State.LOST).orElse(false);
    } catch (Throwable e) {
      log.debug("It is not known whether the outer lock '{}' is still held.", name, e);
      return true;
    }
  }

  /** Returns whether a grant is lost with the outer lock. */
  private boolean lose() {
    guard.lock();
    try {
      isLost = true;
      return isGranted;
    } finally {
      guard.unlock();
    }
  }

  /** The other library failed before the outer lock was taken. */
  private void fail(Throwable cause) {
    List<AskedAcquire> failed;
    boolean waited;
    guard.lock();
    try {
      failed = List.copyOf(asked);
      asked.clear();
      waited = phase == Phase.WAITING;
      phase = Phase.RELEASED;
      failure = waited ? cause : null;
    } finally {
      guard.unlock();
    }
    if (waited) {
      // The next request is answered with the failure, so the engine pauses before it asks anew.
      hints.accept(new SessionNotification.MayBeFree(name, attempt));
    } else {
      onRelease.accept(this);
    }
    failed.forEach(each -> each.sink().accept(failed(each.request(), cause)));
  }

  /** The answer to a request whose outer lock could not be taken. */
  static Reply failed(Request.Acquire request, Throwable cause) {
    String message =
        "Outer lock '%s' (alsoHolding) could not be taken: %s"
            .formatted(request.name(), FailureText.said(cause));
    return cause instanceof UnsupportedByStoreException
            || cause instanceof UnsupportedOperationException
        ? new Reply.Refused(request.attempt(), Reply.RefusalReason.UNSUPPORTED, message)
        : new Reply.Failed(request.attempt(), false, new LockException(message, cause));
  }

  private void release() {
    Duration left = Duration.ofNanos(Math.max(0, shutLeft()));
    try {
      if (!left.isZero() && lock instanceof OuterLocks.Checked checked) {
        checked.unlockAfter(left);
      } else {
        if (!left.isZero() && lock instanceof JavaLock own) {
          own.lease().ifPresent(lease -> lease.keepShut(left));
        }
        lock.unlock();
      }
    } catch (Throwable e) {
      if (isLost) {
        log.debug("The outer lock '{}' was lost before.", name, e);
      } else {
        log.warn(
            "The lock that another library keeps for '{}' (alsoHolding) could not be released."
                + " Others get it when that library lets it end.",
            name,
            e);
      }
    }
  }

  private void released() {
    List<Runnable> then;
    guard.lock();
    try {
      phase = Phase.RELEASED;
      then = List.copyOf(afterRelease);
      afterRelease.clear();
    } finally {
      guard.unlock();
    }
    onRelease.accept(this);
    then.forEach(this::call);
  }

  private void call(Runnable then) {
    try {
      then.run();
    } catch (RuntimeException | Error e) {
      log.error("What follows from the end of outer lock '{}' could not be done.", name, e);
    }
  }
}
