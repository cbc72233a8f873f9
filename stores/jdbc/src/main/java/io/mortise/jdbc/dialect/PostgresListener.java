package io.mortise.jdbc.dialect;

import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.jdbc.notify.NotificationListener;
import io.mortise.jdbc.notify.NotifiedSession;
import io.mortise.jdbc.table.PostgresNotificationCodec;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears by LISTEN what other processes tell the sessions of this one, on a connection of its own,
 * which the driver keeps to itself while it waits.
 *
 * <p><b>Only while it is of use</b>: each notification wakes all connections of the database that
 * listen to anything. So it listens while a session waits or holds, and a little longer.
 *
 * <p><b>Only if it works</b>: through a pooler that gives out server connections per transaction,
 * LISTEN succeeds and nothing is ever heard. So each LISTEN is proven by a notification to oneself,
 * sent on another connection. Until that is heard, {@code NotificationPoller} polls as if there
 * were no LISTEN; if it never is, that is said once, and polling goes on.
 */
final class PostgresListener implements NotificationListener {
  private static final Logger log = LoggerFactory.getLogger(PostgresListener.class);

  /** How long one wait for notifications takes; then it looks who else wants to be listened for. */
  private static final Duration WAIT = Duration.ofMillis(500);

  private static final Duration LINGER = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration PROOF = Duration.ofSeconds(3);
  private static final Duration AFTER_TROUBLE = Duration.ofSeconds(1);
  private static final Duration LAST_WAIT = Duration.ofSeconds(2);
  private static final String PROBE = "probe ";

  /** Versions before 14 have none. */
  private static final String IDLE_TIMEOUT =
      "SELECT setting, set_config(name, '%s', false) FROM pg_settings WHERE name = 'idle_session_timeout'";

  private final PostgresDriver driver;
  private final ServerDatabase server;
  private final String display;
  private final Ticker ticker;
  private final Map<SessionId, ? extends NotifiedSession> sessions;
  private final NotificationSender notificationSender;
  private final Runnable look;
  private final ReentrantLock guard = new ReentrantLock();
  private volatile @Nullable Thread thread;
  private volatile boolean closed;
  private volatile BooleanSupplier yields = () -> false;
  private volatile boolean isListening;
  private volatile String saidProbe = "";

  // Belong to the thread.
  private volatile @Nullable Connection connection;

  /** Whether the connection came in auto-commit mode. */
  private boolean autoCommitted = true;

  /** The limit for idle connections that the connection came with. */
  private long idleTimeout;

  private final Set<SessionId> listening = new HashSet<>();
  private String expected = "";
  private long sentAt;
  private boolean sent;
  private volatile boolean gaveUp;
  private long lastWanted;
  private long lastHeard;

  /**
   * @param look has the notifications read at once
   */
  PostgresListener(
      PostgresDriver driver,
      ServerDatabase server,
      Ticker ticker,
      Map<SessionId, ? extends NotifiedSession> sessions,
      NotificationSender notificationSender,
      Runnable look) {
    this.driver = driver;
    this.server = server;
    this.display = server.profile().display();
    this.ticker = ticker;
    this.sessions = sessions;
    this.notificationSender = notificationSender;
    this.look = look;
  }

  @Override
  public boolean isListening() {
    return isListening;
  }

  @Override
  public boolean isCutOff() {
    return gaveUp;
  }

  @Override
  public void yieldsWhile(BooleanSupplier lacks) {
    yields = lacks;
  }

  @Override
  public void onWaiterAdded() {
    Thread running = thread;
    if (running != null) {
      LockSupport.unpark(running);
      return;
    }
    guard.lock();
    try {
      if (thread == null && !closed) {
        Thread started = DaemonThreads.create("mortise-" + display + "-listen", this::run);
        started.start();
        thread = started;
      }
    } finally {
      guard.unlock();
    }
  }

  private void run() {
    lastWanted = ticker.nanos();
    while (!closed && !gaveUp) {
      try {
        if (yields.getAsBoolean()) {
          drop();
          LockSupport.parkNanos(this, AFTER_TROUBLE.toNanos());
        } else if (isWanted()) {
          listen();
          hear();
        } else {
          rest();
        }
      } catch (SQLException | RuntimeException | Error e) {
        if (closed) {
          break;
        }
        log.debug("Listening on {} failed; polling meanwhile", display, e);
        boolean broke = connection != null;
        drop();
        if (broke) {
          String cause = String.valueOf(e.getMessage());
          sessions.values().forEach(session -> tell(session, cause));
        }
        LockSupport.parkNanos(this, AFTER_TROUBLE.toNanos());
      }
    }
    drop();
  }

  private boolean isWanted() {
    long now = ticker.nanos();
    for (NotifiedSession session : sessions.values()) {
      if (session.isWaiting() || session.isHolding()) {
        lastWanted = now;
        return true;
      }
    }
    return now - lastWanted < LINGER.toNanos();
  }

  private void rest() throws SQLException {
    isListening = false;
    if (connection != null && !listening.isEmpty()) {
      execute("UNLISTEN *");
      listening.clear();
    }
    LockSupport.parkNanos(this, IDLE.toNanos());
  }

  private void listen() throws SQLException {
    if (connection == null) {
      Connection made = server.connection();
      connection = made;
      // A pool may give them without, and gets them back so: LISTEN would wait for a commit.
      autoCommitted = made.getAutoCommit();
      made.setAutoCommit(true);
      idleTimeout = idleTimeout(made, 0);
      lastHeard = ticker.nanos();
    }
    boolean isNew = false;
    for (SessionId session : sessions.keySet()) {
      if (listening.add(session)) {
        // No parameters here; an id is of letters, digits, - and _ only.
        execute("LISTEN \"" + PostgresNotificationCodec.channel(session) + "\"");
        isNew = true;
      }
    }
    Iterator<SessionId> gone = listening.iterator();
    while (gone.hasNext()) {
      SessionId session = gone.next();
      if (!sessions.containsKey(session)) {
        execute("UNLISTEN \"" + PostgresNotificationCodec.channel(session) + "\"");
        gone.remove();
      }
    }
    if (isNew) {
      isListening = false;
      // Notifications from before LISTEN are not heard.
      look.run();
      prove();
    }
  }

  private void prove() {
    String probe = PROBE + ThreadLocalRandom.current().nextLong();
    expected = probe;
    sent = false;
    sentAt = ticker.nanos();
    notificationSender
        .sendNotification(PostgresNotificationCodec.channel(listening.iterator().next()), probe)
        .whenComplete(
            (done, trouble) -> {
              if (trouble == null) {
                saidProbe = probe;
              }
            });
  }

  private void hear() throws SQLException {
    Connection current = connection;
    if (current == null) {
      return;
    }
    boolean heard = driver.await(current, WAIT, this::take);
    long now = ticker.nanos();
    if (heard) {
      lastHeard = now;
    } else if (now - lastHeard > server.profile().maxInFlight().toNanos()) {
      // A connection that only listens does not notice that the server is gone.
      try (Statement statement = current.createStatement();
          ResultSet row = statement.executeQuery("SELECT 1")) {
        row.next();
      }
      lastHeard = now;
    }
    if (!isListening && !saidProbe.equals(expected)) {
      if (now - sentAt > PROOF.toNanos()) {
        // It could not be sent.
        prove();
      }
    } else if (!isListening) {
      if (!sent) {
        sent = true;
        sentAt = now;
      } else if (now - sentAt > PROOF.toNanos()) {
        gaveUp = true;
        // It may go back into a pool.
        execute("UNLISTEN *");
        log.info(
            "Notifications do not reach this process from {}, as through a pooler in transaction mode. "
                + "Waiters are woken by polling.",
            display);
      }
    }
  }

  private void take(String channel, String payload) {
    if (payload.equals(expected)) {
      isListening = true;
      return;
    }
    SessionId session = PostgresNotificationCodec.session(channel);
    NotifiedSession local = session == null ? null : sessions.get(session);
    SessionNotification sessionNotification =
        local == null ? null : PostgresNotificationCodec.decode(payload);
    if (local != null && sessionNotification != null) {
      local.hint(sessionNotification);
    }
  }

  private void execute(String sql) throws SQLException {
    Connection current = connection;
    if (current != null) {
      try (Statement statement = current.createStatement()) {
        statement.execute(sql);
      }
    }
  }

  /** Has the server end an idle connection after so many ms; gives what held before. */
  private static long idleTimeout(Connection on, long millis) throws SQLException {
    try (Statement statement = on.createStatement();
        ResultSet row = statement.executeQuery(IDLE_TIMEOUT.formatted(millis))) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private void tell(NotifiedSession session, String cause) {
    try {
      session.connectionLost(cause);
    } catch (RuntimeException | Error e) {
      log.debug("What follows from a break of {} could not be done", display, e);
    }
  }

  private void drop() {
    isListening = false;
    listening.clear();
    Connection current = connection;
    if (current != null) {
      // A connection that broke cannot be set back, but is closed all the same.
      try (Connection closing = current) {
        if (server.borrows()) {
          execute("UNLISTEN *");
          if (idleTimeout != 0) {
            var unused = idleTimeout(closing, idleTimeout);
          }
          closing.setAutoCommit(autoCommitted);
        }
        // A connection of the pool is not ours to abort.
        connection = null;
      } catch (SQLException | RuntimeException | Error e) {
        log.debug("Closing the connection that listens to {} failed", display, e);
      } finally {
        connection = null;
      }
    }
  }

  /**
   * Waits (bounded) for requests in flight, so that their connection is closed afterwards. One of a
   * pool is given back once its wait for notifications is over, for a pool warns of an aborted one.
   */
  @Override
  public void close() {
    closed = true;
    Thread running;
    guard.lock();
    try {
      running = thread;
    } finally {
      guard.unlock();
    }
    if (running != null) {
      LockSupport.unpark(running);
      if (!server.borrows() || !ends(running)) {
        abort();
        var unused = ends(running);
      }
    }
  }

  private void abort() {
    try {
      Connection current = connection;
      if (current != null) {
        current.abort(Runnable::run);
      }
    } catch (SQLException | RuntimeException e) {
      log.debug("Aborting the connection that listens to {} failed", display, e);
    }
  }

  /** Whether the thread ends soon. Blocks until then. */
  private static boolean ends(Thread thread) {
    try {
      thread.join(LAST_WAIT.toMillis());
      return !thread.isAlive();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
