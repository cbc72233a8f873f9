package io.mortise.jdbc.notify;

import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.FailureText;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the sessions of this process the notifications that others leave for them, sooner than the
 * next renewal does. Its one thread starts with the first session that holds or waits. With file
 * notifications it sleeps until one comes, and looks by itself only while a session waits, in case
 * one was missed. Without, it polls while a session waits or holds: often for the head of a queue,
 * less often for those behind, and for those that have waited long already.
 */
public final class NotificationPoller implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(NotificationPoller.class);

  /** How often to look all the same while a session waits: a missed file is rare. */
  private static final Duration BACKSTOP = Duration.ofMillis(50);

  /** Twice what {@link NotifiedSession#pushedTo} looks back, so that it always gets on. */
  private static final int AT_ONCE = 2 * NotifiedSession.LOOK_BACK;

  private static final Duration LAST_READING = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(1);

  /** The pause grows once a waiter has waited for this many times the next longer pause. */
  private static final int PATIENCE = 200;

  /** The longest pause while somebody waits. */
  private static final Duration LONGEST = Duration.ofMillis(100);

  /** Each place behind the head adds so many times its pause. */
  private static final int PLACE_FACTOR = 4;

  /** A holder that is wanted may take so many times longer to hear of it than a waiter. */
  private static final int HOLDERS_POLL_FACTOR = 10;

  /** And at least so long. */
  private static final Duration HOLDERS_POLL = Duration.ofMillis(50);

  /** The looks that fail in a row before a session is told: the first may find a busy file. */
  private static final int TOLD_FAILURES = 2;

  private final String name;
  private final Ticker ticker;
  private final @Nullable FileNotifier fileNotifier;
  private final NotificationReader reader;
  private final Supplier<Duration> poll;
  private final Map<SessionId, NotifiedSession> sessions = new ConcurrentHashMap<>();
  private final ReentrantLock guard = new ReentrantLock();
  private volatile @Nullable Thread thread;
  private volatile boolean closed;
  private volatile boolean awake;

  /** The failed looks in a row. Used by the thread only. */
  private final Map<SessionId, Integer> failures = new HashMap<>();

  /** When a session began to wait, or a notification came. */
  private volatile long lastChange;

  public NotificationPoller(
      String name,
      Ticker ticker,
      @Nullable FileNotifier fileNotifier,
      NotificationReader reader,
      Supplier<Duration> poll) {
    this.name = name;
    this.ticker = ticker;
    this.lastChange = ticker.nanos();
    this.fileNotifier = fileNotifier;
    this.reader = reader;
    this.poll = poll;
  }

  /** Reads the notifications of a session. */
  public interface NotificationReader {
    List<Renewal.NumberedNotification> read(SessionId session, long after) throws Exception;

    /** Called by the thread that read. */
    default void close() {}
  }

  /** Reads by a connection of its own, made when it is needed. */
  public static final class DedicatedReader implements NotificationReader {
    private final Database database;
    private @Nullable StoreConnection storeConnection;

    public DedicatedReader(Database database) {
      this.database = database;
    }

    @Override
    public List<Renewal.NumberedNotification> read(SessionId session, long after) throws Exception {
      if (storeConnection == null) {
        storeConnection = database.connect();
      }
      return NotificationPoller.read(storeConnection, session, after);
    }

    @Override
    public void close() {
      if (storeConnection != null) {
        try {
          storeConnection.close();
        } catch (SQLException e) {
          log.debug("Closing the connection for notifications failed", e);
        }
        storeConnection = null;
      }
    }
  }

  public static List<Renewal.NumberedNotification> read(
      StoreConnection storeConnection, SessionId session, long after) throws SQLException {
    return storeConnection.repository.notifications(session.value(), after, AT_ONCE);
  }

  /** Watches for a session. */
  public void add(NotifiedSession session) {
    guard.lock();
    try {
      if (closed || sessions.containsKey(session.id())) {
        return;
      }
      if (fileNotifier != null) {
        fileNotifier.listen(session.id());
      }
      sessions.put(session.id(), session);
      if (thread == null) {
        Thread started = DaemonThreads.create(name, this::run);
        started.start();
        thread = started;
      } else {
        LockSupport.unpark(thread);
      }
    } finally {
      guard.unlock();
    }
  }

  /** A session waits now: a thread that no file wakes must look more often. */
  public void onWaiterAdded() {
    lastChange = ticker.nanos();
    if (!awake) {
      LockSupport.unpark(thread);
    }
  }

  /** Notifications may have been missed. */
  public void pollNow() {
    LockSupport.unpark(thread);
  }

  public void remove(SessionId session) {
    guard.lock();
    try {
      if (sessions.remove(session) != null && fileNotifier != null) {
        fileNotifier.forget(session);
      }
    } finally {
      guard.unlock();
    }
  }

  private void run() {
    // Notifications left between the first answer and the watch have to be looked for.
    boolean look = true;
    try {
      while (!closed) {
        // A session that begins to wait from here on may not be seen any more by this look.
        awake = false;
        boolean waits = false;
        boolean holds = false;
        int ahead = Integer.MAX_VALUE;
        for (NotifiedSession session : sessions.values()) {
          waits |= session.isWaiting();
          holds |= session.isHolding();
          if (session.isWaiting()) {
            ahead = Math.min(ahead, session.ahead());
          }
          if (look || session.isWaiting() || session.isHolding()) {
            look(session);
          }
        }
        look = sleep(waits, holds, ahead);
      }
    } catch (InterruptedException e) {
      log.trace("Closed", e);
    } finally {
      reader.close();
    }
  }

  /** Whether it was woken by a file. */
  private boolean sleep(boolean waits, boolean holds, int ahead) throws InterruptedException {
    if (fileNotifier != null && fileNotifier.isListening()) {
      return fileNotifier.await(waits ? BACKSTOP : IDLE);
    }
    long often = poll.get().toNanos();
    long pause =
        waits
            ? pause(often, ahead, ticker.nanos() - lastChange)
            : holds ? holdersPause(often) : IDLE.toNanos();
    awake = pause <= often;
    LockSupport.parkNanos(this, pause);
    return false;
  }

  /** How long to wait for the next look while a session holds and none waits. */
  public Duration holdersPause() {
    return Duration.ofNanos(holdersPause(poll.get().toNanos()));
  }

  private static long holdersPause(long often) {
    return Math.max(often * HOLDERS_POLL_FACTOR, HOLDERS_POLL.toNanos());
  }

  /**
   * How long to wait for the next look while somebody waits, in nanoseconds. A lock that moved a
   * moment ago may move again as soon: of many waiters most do not ask where they stand by now.
   *
   * @param often the pause of the next in the queue
   * @param ahead how many are ahead of the one that is nearest to its turn, or were when it asked
   * @param quiet since when nothing has happened
   */
  static long pause(long often, int ahead, long quiet) {
    long most = Math.max(often, LONGEST.toNanos());
    long turn = often * (1 + PLACE_FACTOR * Math.min(ahead, 1000L));
    return Math.min(most, Math.max(Math.min(turn, Math.max(often, quiet)), quiet / PATIENCE));
  }

  private void look(NotifiedSession session) {
    try {
      long before = session.pushedTo();
      while (session.push(reader.read(session.id(), session.pushedTo())) == AT_ONCE) {
        // There may be more.
      }
      if (session.pushedTo() != before) {
        lastChange = ticker.nanos();
      }
      failures.remove(session.id());
    } catch (Exception | Error e) {
      // The renewal brings the same notifications.
      log.debug("Cannot read the notifications of session {}", session.id(), e);
      failures.keySet().retainAll(sessions.keySet());
      if (failures.merge(session.id(), 1, Integer::sum) == TOLD_FAILURES) {
        session.connectionLost(FailureText.said(e));
      }
      LockSupport.parkNanos(poll.get().toNanos());
    }
  }

  /**
   * Waits for a reading that is in flight (bounded), so that its connection is closed after this.
   */
  @Override
  public void close() {
    Thread running;
    guard.lock();
    try {
      closed = true;
      if (fileNotifier != null) {
        sessions.keySet().forEach(fileNotifier::forget);
        fileNotifier.close();
      }
      sessions.clear();
      running = thread;
      LockSupport.unpark(running);
    } finally {
      guard.unlock();
    }
    if (running != null && running != Thread.currentThread()) {
      try {
        running.join(LAST_READING.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
