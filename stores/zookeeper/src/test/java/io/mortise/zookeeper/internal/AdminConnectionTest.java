package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.TestServer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store is opened over a connection that breaks as soon as it is established. */
@Tag("extended")
class AdminConnectionTest {
  private final FaultInjectionProxy line = FaultInjectionProxy.to(TestServer.shared().port());

  @AfterEach
  void close() {
    line.close();
  }

  private AdminConnection connected(Duration timeout) {
    ZooKeeperTarget zooKeeperTarget =
        ZooKeeperTarget.parse(StoreUrl.parse("zk://127.0.0.1:" + line.port()), Set.of());
    AdminConnection adminConnection =
        new AdminConnection(
            ZooKeeperConnector.to(zooKeeperTarget), "test", timeout, Runnable::run, Ticker.SYSTEM);
    adminConnection.awaitConnected();
    return adminConnection;
  }

  /** A server's default limits are 2 and 20 ticks, written as 0. */
  @ParameterizedTest(name = "ticks of {0} ms, limits {1} and {2} ms: taken for {3} ms, {4} ms")
  @CsvSource({
    "500, 0, 0, 500, 10000",
    "2000, 0, 0, 2000, 40000",
    // Shorter ticks than the probe can measure.
    "100, 0, 0, 500, 2000",
    // A lower limit other than two ticks, and an upper one other than twenty.
    "2000, 1000, 0, 1500, 40000",
    "500, 0, 60000, 1500, 60000",
    "500, 6000, 60000, 3000, 60000",
    "500, 0, 4000, 500, 4000",
  })
  @RerunIfPaused
  void givenServers_thenTheirTickAndTheLongestSessionAreFound(
      int ticks, int least, int most, int tick, int longest) {
    ZooKeeperServer.Setup setup =
        TestServer.setup()
            .with("tickTime", "" + ticks)
            .with("minSessionTimeout", "" + (least == 0 ? -1 : least))
            .with("maxSessionTimeout", "" + (most == 0 ? -1 : most));
    try (ZooKeeperServer server = ZooKeeperServer.start(setup)) {
      ZooKeeperTarget zooKeeperTarget =
          ZooKeeperTarget.parse(StoreUrl.parse("zk://" + server.address()), Set.of());
      AdminConnection adminConnection =
          new AdminConnection(
              ZooKeeperConnector.to(zooKeeperTarget),
              "test",
              TestServer.LONG,
              Runnable::run,
              Ticker.SYSTEM);
      assertThat(adminConnection.limits(Duration.ZERO))
          .isEqualTo(new SessionLimits(Duration.ofMillis(tick), Duration.ofMillis(longest), true));
      assertThat(adminConnection.limits(Duration.ofMillis(7)).tick())
          .isEqualTo(Duration.ofMillis(7));
      adminConnection.close();
    }
  }

  private static void prepare(AdminConnection adminConnection) {
    adminConnection.prepare("/lookout/below", Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
  }

  @Test
  void givenRequestsThatAreLostWithTheirConnection_thenTheyAreAskedAgain() throws Exception {
    AdminConnection adminConnection = connected(TestServer.LONG);
    try {
      line.condition(FaultInjectionProxy.NetworkCondition.FROZEN);
      FutureTask<Boolean> prepared = new FutureTask<>(() -> prepare(adminConnection), true);
      Thread asking = new Thread(prepared, "asking");
      asking.start();
      await().atMost(TestServer.LONG).until(() -> asking.getState() == Thread.State.TIMED_WAITING);
      line.reset();
      line.condition(FaultInjectionProxy.NetworkCondition.FAIR);
      assertThat(prepared.get(TestServer.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      adminConnection.close();
    }
  }

  @Test
  void givenConnectionThatBreaks_andNoOther_thenTheStoreCannotBeReached() {
    AdminConnection adminConnection = connected(Duration.ofSeconds(5));
    try {
      line.cut();
      assertThatThrownBy(() -> prepare(adminConnection))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageMatching(
              "Store 'test' (was connected, but has not answered|does not answer).*");
    } finally {
      adminConnection.close();
    }
  }
}
