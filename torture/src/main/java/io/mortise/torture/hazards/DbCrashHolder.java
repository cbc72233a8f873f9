package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/** Two ends of a lock in a database: its holder dies, and the database dies. */
final class DbCrashHolder implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final Duration LONG_TTL = Duration.ofSeconds(30);
  private static final Duration IN_VAIN = Duration.ofSeconds(3);
  private static final String LOCK = "mortise-hazard/job";

  /** A database, and what it calls the lock of a session. */
  private record Database(String name, String url, String sessionLock, Runnable crash) {
    static Database start(Stage stage) {
      Optional<Path> postgres = PostgresServer.installed();
      if (postgres.isPresent()) {
        PostgresServer server = stage.open(PostgresServer.start(postgres.get()));
        return new Database(
            "PostgreSQL",
            server.url(),
            "SELECT pg_try_advisory_lock(42)",
            () -> {
              server.kill();
              server.restart();
            });
      }
      MariaDbServer server =
          stage.open(
              MariaDbServer.start(
                  MariaDbServer.installed()
                      .orElseThrow(
                          () -> new MissingProgramException("postgres with initdb, or mariadbd"))));
      return new Database(
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
  public void play(Stage stage) throws Exception {
    Database database = Database.start(stage);
    naiveRow(stage, database);
    naiveSession(stage, database);
    holderDies(stage, database);
    databaseDies(stage, database);
  }

  private static void naiveRow(Stage stage, Database database) throws SQLException {
    stage.chapter("The naive lock: a row that is inserted and deleted, in " + database.name());
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE naive_lock (name VARCHAR(40) PRIMARY KEY)");
    }
    Player a = stage.open(new Player());
    stage.expect(a.ask("insert", database.url(), "job").equals("ok"), "A inserts the row");
    stage.say("A", "has inserted the row 'job' and works");
    a.kill();
    stage.say("A", "dies (SIGKILL), before it deletes the row");
    double since = stage.seconds();
    int tries = 0;
    while (stage.seconds() - since < IN_VAIN.toSeconds()) {
      tries++;
      stage.expect(!PlayerMain.insert(database.url(), "job"), "B cannot insert the row");
      stage.pass(Duration.ofMillis(200));
    }
    stage.say("B", "has tried " + tries + " times; the row will be there next year");
    stage.conclude("broke, as told: shut for ever");
  }

  private static void naiveSession(Stage stage, Database database) throws SQLException {
    stage.chapter("The naive lock: that of a session, " + database.sessionLock());
    Connection a = database.connect();
    stage.expect(take(a, database), "A gets the session lock");
    stage.say("A", "has the lock and works");
    database.crash().run();
    stage.say("database", "crashes (SIGKILL) and comes back");
    try (Connection b = database.connect()) {
      stage.expect(take(b, database), "B gets the session lock while A works");
      stage.say("B", "gets the lock: the database has forgotten A, who works on and was not told");
    }
    boolean broken = false;
    try (a) {
      take(a, database);
    } catch (SQLException e) {
      broken = true;
    }
    stage.expect(broken, "the connection of A is broken");
    stage.say("A", "is done, and only now finds its connection broken");
    stage.conclude("broke, as told: two at a time, without a token to tell them apart");
  }

  private static boolean take(Connection connection, Database database) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(database.sessionLock())) {
      return row.next() && row.getBoolean(1);
    }
  }

  private static void holderDies(Stage stage, Database database) throws Exception {
    stage.chapter("Mortise, TTL 2 s: the holder dies");
    LockClient b = stage.client(database.url(), "B", TTL);
    Player a = stage.open(new Player());
    long first =
        Long.parseLong(a.ask("mortise", database.url(), Long.toString(TTL.toMillis()), LOCK));
    stage.say("A", "has the lock, token " + first + ", and works");
    stage.expect(b.lock(LOCK).tryAcquire().isEmpty(), "B does not get the lock");
    a.kill();
    stage.say("A", "dies (SIGKILL)");
    double since = stage.seconds();
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      double took = stage.seconds() - since;
      stage.say("B", "gets the lock %.1f s later, token %d".formatted(took, lease.token()));
      stage.expect(lease.token() > first, "the token rises");
    }
    stage.conclude("only delayed, as told");
  }

  private static void databaseDies(Stage stage, Database database) throws Exception {
    stage.chapter("Mortise, TTL 30 s: the database dies");
    LockClient a = stage.client(database.url(), "A", LONG_TTL);
    LockClient b = stage.client(database.url(), "B", LONG_TTL);
    Lease lease = a.lock(LOCK).acquire();
    long first = lease.token();
    stage.say("A", "has the lock, token " + first + ", and works");
    database.crash().run();
    stage.say("database", "crashes (SIGKILL) and comes back");
    Optional<Lease> other = Optional.empty();
    boolean answered = false;
    while (!answered) {
      try {
        other = b.lock(LOCK).tryAcquire();
        answered = true;
      } catch (StoreUnavailableException e) {
        stage.say("B", "is told of the outage, not that the lock is busy");
        stage.pass(Duration.ofMillis(200));
      }
    }
    stage.expect(other.isEmpty(), "B does not get the lock");
    stage.expect(lease.isValid(), "A holds on");
    stage.say("B", "does not get the lock: A has it still");
    lease.close();
    try (Lease next = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      stage.say("B", "gets it when A has released, token " + next.token());
      stage.expect(next.token() > first, "the token rises");
    }
    stage.conclude("held, as told: what was granted was on the disk");
  }
}
