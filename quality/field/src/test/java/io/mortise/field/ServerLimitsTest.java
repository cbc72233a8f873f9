package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.ZooKeeperServer;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that take no more connections. */
@Tag("extended")
class ServerLimitsTest {
  private static final FieldStore POSTGRESQL = FieldStore.POSTGRESQL;

  private static String refusal(LockClient client) {
    try {
      client.lock("other").tryAcquire().ifPresent(Lease::close);
      return "";
    } catch (StoreUnavailableException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  @Report({"kortix-ai/suna#6724", "uberswe/createmod.com#1482"})
  void givenPostgresThatIsFull_thenWaitsGoOn_andTriesAreTold() throws Exception {
    try (LocalServer server =
            POSTGRESQL.start("-c", "max_connections=10", "-c", "superuser_reserved_connections=0");
        Connection admin = DriverManager.getConnection(server.url());
        LockClient client = Trial.client(server.url())) {
      Lease lease = client.lock("held").acquireWithin(Trial.LONG);
      Deque<Connection> others = new ArrayDeque<>();
      try {
        BoundedWait.until(
            Trial.LONG,
            "others have all connections, and a try is told",
            () -> {
              execute(
                  admin,
                  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      + " WHERE application_name LIKE 'mortise%'");
              fill(others, server.url());
              return refusal(client).contains("too many clients");
            });
        assertThatThrownBy(() -> LockClient.connect(server.url()).close())
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("too many clients");
        CompletableFuture<Lease> wait = client.lock("free").acquireAsync();
        BoundedWait.pass(Duration.ofSeconds(3));
        assertThat(wait).isNotDone();
        close(others);
        BoundedWait.join(wait).close();
        lease.close();
      } finally {
        close(others);
      }
    }
  }

  private static void fill(Deque<Connection> others, String url) {
    try {
      while (true) {
        others.push(DriverManager.getConnection(url));
      }
    } catch (SQLException full) {
      // Full: no other client gets a connection.
    }
  }

  private static void close(Deque<Connection> others) throws SQLException {
    while (!others.isEmpty()) {
      others.pop().close();
    }
  }

  private static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @Report({"yahoo/CMAK#923", "smartloli/EFAK#335"})
  void givenZooKeeperThatIsFull_thenNewClientsAreTold_andThoseThatAreThereAreServed()
      throws Exception {
    try (ZooKeeperServer server =
        ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("maxClientCnxns", "6"))) {
      String url = server.url() + "?timeout=2s";
      Deque<Socket> others = new ArrayDeque<>();
      try (LockClient client = Trial.client(url)) {
        client.lock("x").acquireWithin(Trial.LONG).close();
        for (int i = 0; i < 6; i++) {
          others.push(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        }
        assertThatThrownBy(() -> LockClient.connect(url).close())
            .isInstanceOf(StoreUnavailableException.class);
        client.lock("x").acquireWithin(Trial.LONG).close();
      } finally {
        while (!others.isEmpty()) {
          others.pop().close();
        }
      }
      BoundedWait.until(Trial.LONG, "there is room again", () -> opens(url));
    }
  }

  private static boolean opens(String url) {
    try (LockClient client = Trial.client(url)) {
      client.lock("x").tryAcquire().orElseThrow().close();
      return true;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }
}
