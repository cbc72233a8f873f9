package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Two ends of a lock in a database: its holder dies, and the database dies. */
final class DatabaseCrash implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG_TTL = Duration.ofSeconds(30);
  private static final Duration IN_VAIN = Duration.ofSeconds(3);
  private static final String LOCK = "mortise-hazard/job";

  /** A database, with its name for the lock of a session. */
  private record CrashableDatabase(String name, String url, String sessionLock, Runnable crash) {
    static CrashableDatabase start(HazardContext hazardContext) {
      Optional<Path> postgres = PostgresServer.installed();
      if (postgres.isPresent()) {
        PostgresServer server = hazardContext.open(PostgresServer.start(postgres.get()));
        return new CrashableDatabase(
            "PostgreSQL",
            server.url(),
            "SELECT pg_try_advisory_lock(42)",
            () -> {
              server.kill();
              server.restart();
            });
      }
      MariaDbServer server =
          hazardContext.open(
              MariaDbServer.start(
                  MariaDbServer.installed()
                      .orElseThrow(
                          () -> new MissingProgramException("postgres with initdb, or mariadbd"))));
      return new CrashableDatabase(
          "MariaDB",
          server.url(),
          "SELECT GET_LOCK('job', 0)",
          () -> {
            server.kill();
            server.restart();
          });
    }

    Connection connect() throws SQLException {
      return DriverManager.getConnection(url);
    }
  }

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    CrashableDatabase crashableDatabase = CrashableDatabase.start(hazardContext);
    naiveRow(hazardContext, crashableDatabase);
    naiveSession(hazardContext, crashableDatabase);
    holderDies(hazardContext, crashableDatabase);
    databaseDies(hazardContext, crashableDatabase);
  }

  private static void naiveRow(HazardContext hazardContext, CrashableDatabase crashableDatabase)
      throws SQLException {
    hazardContext.chapter(
        "The naive lock: a row that is inserted and deleted, in " + crashableDatabase.name());
    try (Connection connection = crashableDatabase.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE naive_lock (name VARCHAR(40) PRIMARY KEY)");
    }
    HolderProcess a = hazardContext.open(new HolderProcess());
    hazardContext.expect(
        a.ask("insert", crashableDatabase.url(), "job").equals("ok"), "A inserts the row");
    hazardContext.say("A", "has inserted the row 'job' and works");
    a.kill();
    hazardContext.say("A", "dies (SIGKILL), before it deletes the row");
    double since = hazardContext.seconds();
    int tries = 0;
    while (hazardContext.seconds() - since < IN_VAIN.toSeconds()) {
      tries++;
      hazardContext.expect(
          !HolderMain.insert(crashableDatabase.url(), "job"), "B cannot insert the row");
      hazardContext.pass(Duration.ofMillis(200));
    }
    hazardContext.say("B", "has tried " + tries + " times; the row will be there next year");
    hazardContext.conclude("broke, as told: shut for ever");
  }

  private static void naiveSession(HazardContext hazardContext, CrashableDatabase crashableDatabase)
      throws SQLException {
    hazardContext.chapter("The naive lock: that of a session, " + crashableDatabase.sessionLock());
    Connection a = crashableDatabase.connect();
    hazardContext.expect(take(a, crashableDatabase), "A gets the session lock");
    hazardContext.say("A", "has the lock and works");
    crashableDatabase.crash().run();
    hazardContext.say("database", "crashes (SIGKILL) and comes back");
    try (Connection b = crashableDatabase.connect()) {
      hazardContext.expect(take(b, crashableDatabase), "B gets the session lock while A works");
      hazardContext.say(
          "B", "gets the lock: the database has forgotten A, who works on and was not told");
    }
    boolean broken = false;
    try (a) {
      take(a, crashableDatabase);
    } catch (SQLException e) {
      broken = true;
    }
    hazardContext.expect(broken, "the connection of A is broken");
    hazardContext.say("A", "is done, and only now finds its connection broken");
    hazardContext.conclude("broke, as told: two at a time, without a token to tell them apart");
  }

  private static boolean take(Connection connection, CrashableDatabase crashableDatabase)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(crashableDatabase.sessionLock())) {
      return row.next() && row.getBoolean(1);
    }
  }

  private static void holderDies(HazardContext hazardContext, CrashableDatabase crashableDatabase)
      throws Exception {
    hazardContext.chapter("Mortise, TTL 2 s: the holder dies");
    LockClient b = hazardContext.client(crashableDatabase.url(), "B", TTL);
    HolderProcess a = hazardContext.open(new HolderProcess());
    long first =
        Long.parseLong(
            a.ask("mortise", crashableDatabase.url(), Long.toString(TTL.toMillis()), LOCK));
    hazardContext.say("A", "has the lock, token " + first + ", and works");
    hazardContext.expect(b.lock(LOCK).tryAcquire().isEmpty(), "B does not get the lock");
    a.kill();
    hazardContext.say("A", "dies (SIGKILL)");
    double since = hazardContext.seconds();
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      double took = hazardContext.seconds() - since;
      hazardContext.say(
          "B",
          String.format(Locale.ROOT, "gets the lock %.1f s later, token %s", took, lease.token()));
      hazardContext.expect(lease.token() > first, "the token rises");
    }
    hazardContext.conclude("only delayed, as told");
  }

  private static void databaseDies(HazardContext hazardContext, CrashableDatabase crashableDatabase)
      throws Exception {
    hazardContext.chapter("Mortise, TTL 30 s: the database dies");
    LockClient a = hazardContext.client(crashableDatabase.url(), "A", LONG_TTL);
    LockClient b = hazardContext.client(crashableDatabase.url(), "B", LONG_TTL);
    Lease lease = a.lock(LOCK).acquire();
    long first = lease.token();
    hazardContext.say("A", "has the lock, token " + first + ", and works");
    crashableDatabase.crash().run();
    hazardContext.say("database", "crashes (SIGKILL) and comes back");
    Optional<Lease> other = Optional.empty();
    boolean answered = false;
    while (!answered) {
      try {
        other = b.lock(LOCK).tryAcquire();
        answered = true;
      } catch (StoreUnavailableException e) {
        hazardContext.say("B", "is told of the outage, not that the lock is busy");
        hazardContext.pass(Duration.ofMillis(200));
      }
    }
    hazardContext.expect(other.isEmpty(), "B does not get the lock");
    hazardContext.expect(lease.isValid(), "A holds on");
    hazardContext.say("B", "does not get the lock: A has it still");
    lease.close();
    try (Lease next = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      hazardContext.say("B", "gets it when A has released, token " + next.token());
      hazardContext.expect(next.token() > first, "the token rises");
    }
    hazardContext.conclude("held, as told: what was granted was on the disk");
  }
}
