package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.ServerProcess;
import io.mortise.testserver.PgBouncer;
import io.mortise.testserver.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A pooler in transaction mode that the URL does not declare: other applications share its
 * connections.
 */
@Tag("extended")
class UndeclaredPoolerTest {
  private static PgBouncer pooler;

  @BeforeAll
  static void start() {
    TestPrerequisites.required(PgBouncer.installed(), "PgBouncer");
    pooler = PgBouncer.start((PostgresServer) FieldStore.POSTGRESQL.shared(), 3);
  }

  @AfterAll
  static void stop() {
    if (pooler != null) {
      pooler.close();
    }
  }

  @Test
  @Report({
    "pgbouncer/pgbouncer#1023",
    "pgbouncer/pgbouncer#510",
    "pgbouncer/pgbouncer#976",
    "pgbouncer/pgbouncer#1567",
    "bcgov/wps#3539"
  })
  void givenUrl_whenOpened_thenItIsRefused_beforeAnythingIsSetThere() throws Exception {
    assertThatThrownBy(() -> LockClient.connect(pooler.url()))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("pooler=true");
    assertNothingIsSet();
  }

  /** With a pooler that maps prepared statements nothing collides. */
  @Test
  @Report({
    "pgbouncer/pgbouncer#1023",
    "pgbouncer/pgbouncer#510",
    "pgbouncer/pgbouncer#976",
    "pgbouncer/pgbouncer#1567",
    "bcgov/wps#3539"
  })
  void givenDataSourceWithoutPreparedStatements_whenOpened_thenItIsRefused() throws Exception {
    for (boolean autoCommit : new boolean[] {true, false}) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(pooler.url() + "&prepareThreshold=0");
      config.setAutoCommit(autoCommit);
      config.setMaximumPoolSize(4);
      config.setMinimumIdle(0);
      try (HikariDataSource pool = new HikariDataSource(config)) {
        assertThatThrownBy(() -> JdbcStore.over(pool, ""))
            .isInstanceOf(StoreUnfitException.class)
            .hasMessageContaining("pooler=true");
      }
      assertNothingIsSet();
    }
  }

  /** In that mode a client keeps one server connection while it is connected. */
  @Test
  @Report("pgbouncer/pgbouncer#1023")
  void givenPoolerInSessionMode_whenOpened_thenItIsAsGoodAsTheServer() throws Exception {
    try (SessionPooler sessions = SessionPooler.start(FieldStore.POSTGRESQL.shared());
        LockClient locks = LockClient.connect(sessions.url());
        LockClient others = LockClient.connect(sessions.url())) {
      for (int i = 0; i < 3; i++) {
        Lease held = locks.lock("session").acquire();
        CompletableFuture<Lease> waiter = others.lock("session").acquireAsync();
        held.close();
        BoundedWait.join(waiter).close();
      }
    }
  }

  private static final class SessionPooler extends ServerProcess {
    private SessionPooler(int port, Path folder, List<String> command) {
      super(
          "PgBouncer",
          port,
          folder,
          command,
          () -> {
            ServerProcess.connect(port).close();
            return true;
          });
    }

    static SessionPooler start(LocalServer server) throws IOException {
      Path folder =
          Files.setPosixFilePermissions(
              Files.createTempDirectory("field-pgbouncer"),
              PosixFilePermissions.fromString("rwxr-xr-x"));
      int port = freePort();
      Path settings = folder.resolve("pgbouncer.ini");
      Files.writeString(
          settings,
          """
          [databases]
          postgres = host=127.0.0.1 port=%d user=%s password=%s
          [pgbouncer]
          listen_addr = 127.0.0.1
          listen_port = %d
          unix_socket_dir =
          auth_type = any
          pool_mode = session
          """
              .formatted(server.port(), PostgresServer.USER, PostgresServer.PASSWORD, port));
      List<String> command = new ArrayList<>();
      if (System.getProperty("user.name").equals("root")) {
        // PgBouncer refuses to run as root.
        command.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
      }
      command.addAll(List.of(PgBouncer.installed().orElseThrow().toString(), settings.toString()));
      return new SessionPooler(port, folder, command);
    }

    @Override
    public String url() {
      return pooler.url().replace(":" + pooler.port() + "/", ":" + port() + "/");
    }
  }

  private static void assertNothingIsSet() throws SQLException {
    try (Connection connection = DriverManager.getConnection(pooler.url() + "&prepareThreshold=0");
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 10; i++) {
        try (ResultSet row =
            statement.executeQuery(
                "SELECT current_setting('statement_timeout') || current_setting('lock_timeout')"
                    + " || current_setting('enable_seqscan')")) {
          row.next();
          assertThat(row.getString(1)).isEqualTo("00on");
        }
      }
    }
  }
}
