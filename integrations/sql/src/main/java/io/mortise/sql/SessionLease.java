package io.mortise.sql;

import io.mortise.LeaseLostException;
import io.mortise.LockName;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session lock, held for as long as its connection lives. It has no token and no deadline, with
 * the limits that {@link SessionLocks} describes. Usable and closable from any thread.
 */
public final class SessionLease implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SessionLease.class);

  private final String name;
  private final SessionConnection session;
  private final Duration check;
  private final Ticker ticker;
  private final Executor threads;
  private final Consumer<SessionLease> over;

  /** One thread at a time uses the connection. */
  private final ReentrantLock use = new ReentrantLock();

  private final List<Consumer<? super LeaseLostException>> listeners = new ArrayList<>();

  /** When the check in flight was begun; 0 if none is. */
  private volatile long checkedSince;

  private volatile SessionLockState state = SessionLockState.HELD;
  private @Nullable LeaseLostException loss;

  private enum SessionLockState {
    HELD,
    LOST,
    CLOSED
  }

  SessionLease(
      String name,
      SessionConnection session,
      Duration check,
      Ticker ticker,
      Executor threads,
      Consumer<SessionLease> over) {
    this.name = name;
    this.session = session;
    this.check = check;
    this.ticker = ticker;
    this.threads = threads;
    this.over = over;
  }

  /** The lock's name. */
  public String name() {
    return name;
  }

  /**
   * Whether it is not closed, and was not found lost at the last check. It may have been lost
   * since. Does not block.
   */
  public boolean isHeld() {
    return state == SessionLockState.HELD;
  }

  /**
   * Calls the listener once when the lease is found lost, on a thread of Mortise's own that may
   * block; at once if that was found already, never after a close.
   */
  public void onLost(Consumer<? super LeaseLostException> listener) {
    LeaseLostException known;
    synchronized (listeners) {
      known = loss;
      if (known == null) {
        listeners.add(listener);
      }
    }
    if (known != null && state == SessionLockState.LOST) {
      threads.execute(() -> listener.accept(known));
    }
  }

  /**
   * Begins a check, unless the last one is in flight; if that takes too long, the lease is lost.
   */
  void check() {
    long since = checkedSince;
    if (since == 0) {
      checkedSince = ticker.nanos() | 1; // Never 0.
      try {
        threads.execute(this::ask);
      } catch (RuntimeException | OutOfMemoryError e) {
        checkedSince = 0;
        throw e;
      }
    } else if (ticker.nanos() - since > check.toNanos()) {
      lose(
          LeaseEnd.NOT_RENEWED,
          "the server did not answer for " + DurationText.format(check),
          null);
    }
  }

  private void ask() {
    use.lock();
    try {
      if (state == SessionLockState.HELD && !session.holds()) {
        lose(LeaseEnd.FORGOTTEN, "the server did not know it any more", null);
      }
    } catch (SQLException e) {
      lose(LeaseEnd.FORGOTTEN, "its connection broke", e);
    } finally {
      checkedSince = 0;
      use.unlock();
    }
  }

  private void lose(LeaseEnd end, String why, @Nullable SQLException cause) {
    String message =
        String.format(
            "The session lock '%s' was lost: %s. Another may hold it by now, and this lock has no token to tell the"
                + " two apart.",
            LockName.of(name), why);
    LeaseLostException lost =
        cause == null
            ? new LeaseLostException(message, end)
            : new LeaseLostException(message, end, cause);
    List<Consumer<? super LeaseLostException>> told;
    synchronized (listeners) {
      if (state != SessionLockState.HELD) {
        return;
      }
      state = SessionLockState.LOST;
      loss = lost;
      told = List.copyOf(listeners);
    }
    over.accept(this);
    log.error(message);
    threads.execute(session::cut);
    for (Consumer<? super LeaseLostException> listener : told) {
      threads.execute(() -> listener.accept(lost));
    }
  }

  /**
   * Releases the lock, once: later calls do nothing. Blocks for a round trip, and for twice the
   * time between two checks at most; if the server does not answer, the connection is cut, and the
   * lock ends when the server notices.
   *
   * @throws LeaseLostException if it was lost before
   */
  @Override
  public void close() {
    if (state == SessionLockState.CLOSED) {
      return;
    }
    boolean mine = lockForClose();
    try {
      LeaseLostException lost;
      synchronized (listeners) {
        if (state == SessionLockState.CLOSED) {
          return;
        }
        lost = loss;
        state = SessionLockState.CLOSED;
      }
      over.accept(this);
      if (lost != null) {
        throw lost;
      } else if (!mine) {
        log.warn(
            "The release of session lock '{}' was not answered; its connection is cut.",
            LockName.of(name));
        session.cut();
      } else {
        release();
      }
    } finally {
      if (mine) {
        use.unlock();
      }
    }
  }

  private boolean lockForClose() {
    boolean interrupted = false;
    long deadline = ticker.nanos() + check.toNanos();
    try {
      while (true) {
        try {
          return use.tryLock(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void release() {
    boolean held;
    try {
      held = session.release();
      session.giveBack();
    } catch (SQLException e) {
      log.warn(
          "The release of session lock '{}' failed; its connection is cut: {}",
          LockName.of(name),
          e.getMessage());
      session.cut();
      return;
    }
    if (!held) {
      throw new LeaseLostException(
          "The session lock '"
              + LockName.of(name)
              + "' was lost before its release: the server did not know it any more. Work done under it may overlap"
              + " with the next holder's.",
          LeaseEnd.FORGOTTEN);
    }
  }

  @Override
  public String toString() {
    return "SessionLease[" + name + ", " + state + "]";
  }
}
