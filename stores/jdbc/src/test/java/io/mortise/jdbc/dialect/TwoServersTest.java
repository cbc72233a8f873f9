package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.event.LeaseEnd;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.spi.LockStore;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.LocalServer;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One address that leads to two servers, each of which takes writes. */
class TwoServersTest {
  @ParameterizedTest
  @MethodSource("io.mortise.jdbc.DatabaseProduct#servers")
  void givenBalancerOverTwoPrimaries_whenBothAreReached_thenTheStoreIsRefusedByName(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer one = databaseProduct.start();
        LocalServer two = databaseProduct.start()) {
      JdbcStore.open(two.url()).close();
      AtomicReference<DataSource> target = new AtomicReference<>(databaseProduct.source(one.url()));
      DataSource balancer =
          (DataSource)
              Proxy.newProxyInstance(
                  TwoServersTest.class.getClassLoader(),
                  new Class<?>[] {DataSource.class},
                  (proxy, method, arguments) -> target.get().getConnection());
      try (LockStore store = JdbcStore.over(balancer, "")) {
        // The connection of the requests leads to one; that of the renewals is to come.
        target.set(databaseProduct.source(two.url()));
        try (LockClient locks = LockClient.builder().store(store).build()) {
          assertThatThrownBy(() -> locks.lock("a").tryAcquire())
              .isInstanceOf(StoreUnfitException.class)
              .hasMessageContaining("different servers")
              .hasMessageContaining(":" + one.port())
              .hasMessageContaining(":" + two.port());
          target.set(databaseProduct.source(one.url()));
          Awaitility.await()
              .atMost(Duration.ofSeconds(60))
              .ignoreExceptions()
              .until(() -> locks.lock("a").tryAcquire().isPresent());
        }
      }
    }
  }

  /** As after a restore: not two servers, but one with other tables. */
  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB"})
  void givenTablesThatWereMadeAnew_whenConnectedAgain_thenTheStoreGoesOn_andTheHolderIsTold(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer server = databaseProduct.start();
        FaultInjectionProxy proxy = FaultInjectionProxy.to(server.port())) {
      String url = server.url().replace(":" + server.port() + "/", ":" + proxy.port() + "/");
      try (LockStore store = JdbcStore.open(url);
          LockClient locks = LockClient.builder().store(store).ttl(Duration.ofMinutes(1)).build();
          Connection admin = DriverManager.getConnection(server.url());
          Statement statement = admin.createStatement()) {
        Lease held = locks.lock("held").acquire();
        long token = held.token();
        for (String table : List.of("meta", "session", "lock", "hold", "wait", "news", "fact")) {
          statement.execute("DROP TABLE mortise_" + table);
        }
        JdbcStore.open(server.url()).close();
        proxy.reset();
        Awaitility.await()
            .atMost(Duration.ofSeconds(60))
            .ignoreExceptions()
            .until(() -> locks.lock("a").tryAcquire().isPresent());
        Awaitility.await()
            .atMost(Duration.ofSeconds(60))
            .until(() -> held.state() == Lease.State.LOST);
        try (Lease next = locks.lock("held").acquireWithin(Duration.ofSeconds(60))) {
          assertThat(next.token()).isGreaterThan(token);
        }
        assertThatThrownBy(held::close)
            .isInstanceOfSatisfying(
                LeaseLostException.class,
                loss -> assertThat(loss.end()).isEqualTo(LeaseEnd.FORGOTTEN));
      }
    }
  }
}
