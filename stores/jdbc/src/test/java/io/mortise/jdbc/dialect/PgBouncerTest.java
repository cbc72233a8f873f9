package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.PostgresServers;
import io.mortise.testserver.PgBouncer;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Locks through a real pooler in transaction mode, where one is installed. */
class PgBouncerTest {
  private static PostgresServer server;
  private static PgBouncer pooler;

  @BeforeAll
  static void start() {
    Assumptions.assumeTrue(PgBouncer.installed().isPresent(), "SKIPPED: no pgbouncer in the PATH.");
    server = PostgresServers.V18.start();
    pooler = PgBouncer.start(server, 3);
  }

  @AfterAll
  static void stop() {
    if (pooler != null) {
      pooler.close();
    }
    if (server != null) {
      server.close();
    }
  }

  @Test
  void givenTransactionMode_whenManyProcessesWantOneLock_thenTheyTakeTurns() throws Exception {
    int[] inside = {0};
    List<LockClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        clients.add(LockClient.connect(pooler.url() + "&pooler=true"));
      }
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (LockClient client : clients) {
        for (int thread = 0; thread < 2; thread++) {
          all.add(
              CompletableFuture.runAsync(
                  () -> work(client, inside), task -> new Thread(task).start()));
        }
      }
      for (CompletableFuture<Void> one : all) {
        one.get(50, TimeUnit.SECONDS);
      }
      assertThat(inside[0]).isEqualTo(8 * 20);
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  @Test
  void givenTransactionMode_whenALockIsSticky_thenItIsGivenBackAtOnce_andAFirstTryHasIt()
      throws Exception {
    try (LockClient client = LockClient.connect(pooler.url() + "&pooler=true");
        LockClient other = LockClient.connect(pooler.url() + "&pooler=true")) {
      client
          .lock("sticky")
          .with(LockOptions.DEFAULTS.withSticky(LockOptions.LONGEST_STICKY))
          .acquire()
          .close();
      try (Lease lease = other.lock("sticky").tryAcquire().orElseThrow()) {
        lease.ensureValid();
      }
    }
  }

  @Test
  void givenTransactionMode_whenItIsNotSaid_thenItIsRefusedAtTheFirstCollision() {
    String url = pooler.url() + "&prefix=silent_";
    assertThatThrownBy(
            () -> {
              // Other tests may have left prepared statements with which the first collides.
              LockClient first = LockClient.connect(url);
              try (first) {
                for (int i = 0; i < 10; i++) {
                  LockClient.connect(url).close();
                }
              }
            })
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("pooler=true");
  }

  @Test
  void givenTransactionMode_whenItIsNotSaid_thenARequestThatCollidesSaysWhatToDo()
      throws Exception {
    String url = pooler.url() + "&prefix=unsaid_";
    List<LockClient> clients = new ArrayList<>();
    Throwable failure = null;
    try {
      for (int i = 0; i < 4 && failure == null; i++) {
        failure =
            catchThrowable(
                () -> {
                  clients.add(LockClient.connect(url));
                  for (int round = 0; round < 20; round++) {
                    for (LockClient client : clients) {
                      client.lock("own-" + client.hashCode()).tryAcquire().ifPresent(Lease::close);
                    }
                  }
                });
      }
    } finally {
      for (LockClient client : clients) {
        // It may fail for the same reason.
        Throwable unused = catchThrowable(client::close);
      }
    }
    assertThat(failure).isNotNull().hasMessageContaining("pooler=true");
  }

  @Test
  void givenPoolerTrue_whenASessionEnds_thenTheConnectionsOfOthersHaveNoSettingsOfOurs()
      throws Exception {
    try (LockClient client = LockClient.connect(pooler.url() + "&pooler=true");
        LockClient other = LockClient.connect(pooler.url() + "&pooler=true")) {
      Lease held = client.lock("settings").acquire();
      CompletableFuture<Lease> waits = other.lock("settings").acquireAsync();
      held.close();
      waits.get(20, TimeUnit.SECONDS).close();
    }
    try (Connection connection = DriverManager.getConnection(pooler.url() + "&prepareThreshold=0");
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 10; i++) {
        try (ResultSet row = statement.executeQuery("SHOW lock_timeout")) {
          row.next();
          assertThat(row.getString(1)).isEqualTo("0");
        }
      }
    }
  }

  private static void work(LockClient client, int[] inside) {
    try {
      for (int i = 0; i < 20; i++) {
        try (Lease lease = client.lock("shared").acquire()) {
          lease.ensureValid();
          inside[0]++;
        }
        client.lock("own-" + Thread.currentThread().getId()).acquire().close();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
