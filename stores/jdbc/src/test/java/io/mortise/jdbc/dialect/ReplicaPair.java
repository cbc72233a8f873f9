package io.mortise.jdbc.dialect;

import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.PostgresServers;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;

/**
 * A server and its replica, with a network between the two that can be cut; and in front of them
 * the address at which clients find the one that takes writes. For one thread.
 */
abstract class ReplicaPair implements AutoCloseable {
  private static final Duration LONG = Duration.ofSeconds(60);

  final LocalServer primary;
  final FaultInjectionProxy between;
  private final FaultInjectionProxy front;
  final LocalServer replica;

  /** Starts a replica of the primary. */
  private interface ReplicaStarter {
    LocalServer start(FaultInjectionProxy between) throws SQLException;
  }

  private ReplicaPair(LocalServer primary, ReplicaStarter replicaStarter) throws SQLException {
    this.primary = primary;
    this.between = FaultInjectionProxy.to(primary.port());
    this.front = FaultInjectionProxy.to(primary.port());
    try {
      this.replica = replicaStarter.start(between);
    } catch (SQLException | RuntimeException | Error e) {
      front.close();
      between.close();
      primary.close();
      throw e;
    }
  }

  /** Starts both; nobody waits until the replica has what was committed. */
  static ReplicaPair start(DatabaseProduct databaseProduct) throws SQLException {
    return switch (databaseProduct) {
      case POSTGRESQL -> new Postgres();
      case MYSQL -> new MySql(databaseProduct, ", GET_MASTER_PUBLIC_KEY = 1");
      case MARIADB -> new MySql(databaseProduct, "");
    };
  }

  /** Where clients find them. */
  String url() {
    return at(primary.url(), front.port());
  }

  private String at(String url, int port) {
    return url.replace(":" + primary.port() + "/", ":" + port + "/");
  }

  /** Waits until the replica has all locks that are held on the primary. */
  void awaitReplica() {
    Awaitility.await()
        .atMost(LONG)
        .ignoreExceptions()
        .until(() -> held(replica).equals(held(primary)));
  }

  private static String held(LocalServer server) throws SQLException {
    return one(server.url(), "SELECT MAX(token) FROM mortise_hold");
  }

  /** The replica hears of nothing from now on, and is not heard. */
  void disconnect() {
    between.cut();
  }

  void reconnect() {
    between.lead(primary.port());
  }

  /** The primary dies, the replica takes over, and clients find it at the old address. */
  void failOver() throws SQLException {
    primary.kill();
    promote();
    front.lead(replica.port());
  }

  abstract void promote() throws SQLException;

  static void execute(String url, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  static String one(String url, String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      return row.next() ? String.valueOf(row.getString(1)) : "";
    }
  }

  @Override
  public void close() {
    replica.close();
    primary.close();
    between.close();
    front.close();
  }

  private static final class Postgres extends ReplicaPair {
    Postgres() throws SQLException {
      this((PostgresServer) DatabaseProduct.POSTGRESQL.start());
    }

    private Postgres(PostgresServer primary) throws SQLException {
      super(
          primary, between -> primary.startStandby(PostgresServers.V18.binaries(), between.port()));
    }

    @Override
    void promote() throws SQLException {
      execute(replica.url(), "SELECT pg_promote()");
    }
  }

  /** MariaDB as well. */
  private static final class MySql extends ReplicaPair {
    /**
     * The pair.
     *
     * @param more the settings that this product needs
     */
    MySql(DatabaseProduct databaseProduct, String more) throws SQLException {
      this(databaseProduct, databaseProduct.start("--server-id=1", "--log-bin"), more);
    }

    private MySql(DatabaseProduct databaseProduct, LocalServer primary, String more)
        throws SQLException {
      super(
          primary,
          between -> {
            LocalServer replica = databaseProduct.start("--server-id=2", "--log-bin");
            follow(admin(replica), admin(primary), between.port(), more);
            return replica;
          });
    }

    /** From here on: both were set up in the same way. */
    private static void follow(String replica, String primary, int port, String more)
        throws SQLException {
      try (Connection connection = DriverManager.getConnection(primary);
          Statement statement = connection.createStatement();
          ResultSet place = statement.executeQuery("SHOW MASTER STATUS")) {
        place.next();
        execute(
            replica,
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'admin', MASTER_PASSWORD = 'secret', MASTER_CONNECT_RETRY = 1, MASTER_LOG_FILE = '%s', MASTER_LOG_POS = %d%s"
                .formatted(port, place.getString(1), place.getLong(2), more),
            "START SLAVE");
      }
    }

    private static String admin(LocalServer server) {
      return server.url().replace("user=mortise", "user=admin");
    }

    @Override
    void promote() throws SQLException {
      execute(admin(replica), "STOP SLAVE", "RESET SLAVE ALL");
    }
  }
}
