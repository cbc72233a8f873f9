package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The first request after the server, or something between, has ended the connections. */
@Tag("extended")
class StaleConnectionTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  @ParameterizedTest
  @EnumSource
  void givenServerThatWasRestarted_whenTheLockIsTried_thenItIsGranted(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer server = databaseProduct.start();
        LockClient locks = LockClient.builder().url(server.url()).ttl(TTL).build()) {
      DistributedLock lock = locks.lock("job");
      lock.tryAcquire().orElseThrow().close();

      server.kill();
      server.restart();

      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        lease.ensureValid();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenConnectionsThatWereCut_whenRequestsAreMade_thenEachIsAnswered(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer server = databaseProduct.start();
        FaultInjectionProxy faultInjectionProxy = FaultInjectionProxy.to(server.port());
        LockStore store =
            JdbcStore.open(
                server.url().replace(":" + server.port(), ":" + faultInjectionProxy.port()))) {
      TestSession session = new TestSession(store, TTL);
      AttemptId first = session.attempt();
      AttemptId second = session.attempt();
      session.granted("a", first);

      faultInjectionProxy.reset();
      assertThat(session.abandon("a", first).was()).isEqualTo(Reply.AttemptState.HELD);
      faultInjectionProxy.reset();
      session.granted("a", second);
      faultInjectionProxy.reset();
      assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
    }
  }

  /** Nobody is told of it, so that what is sent is lost. */
  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB"})
  void givenConnectionsThatAFirewallForgot_whenTheLockIsTried_thenItIsGranted(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer server = databaseProduct.start();
        FaultInjectionProxy firewall = FaultInjectionProxy.to(server.port());
        LockClient locks =
            LockClient.builder()
                .url(server.url().replace(":" + server.port(), ":" + firewall.port()))
                .ttl(Duration.ofMinutes(5))
                .build()) {
      DistributedLock lock = locks.lock("job");
      lock.tryAcquire().orElseThrow().close();
      firewall.halfOpen();
      BoundedWait.pass(Duration.ofSeconds(16));
      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        lease.ensureValid();
      }
    }
  }

  @Test
  void givenPostgresConnectionsThatWereTerminated_whenTheLockIsTried_thenItIsGranted()
      throws Exception {
    try (PostgresServer server = PostgresServers.V18.start();
        LockClient locks = LockClient.builder().url(server.url()).ttl(TTL).build()) {
      DistributedLock lock = locks.lock("job");
      lock.tryAcquire().orElseThrow().close();
      try (Connection admin = DriverManager.getConnection(server.url());
          Statement statement = admin.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                + " AND backend_type = 'client backend'");
      }
      try (Lease lease = lock.tryAcquire().orElseThrow()) {
        lease.ensureValid();
      }
    }
  }
}
