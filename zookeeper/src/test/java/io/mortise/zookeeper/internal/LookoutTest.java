package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.StoreUrl;
import io.mortise.testkit.server.Relay;
import io.mortise.zookeeper.TestServer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store is opened over a connection that breaks once it is there. */
class LookoutTest {
  private final Relay line = Relay.to(TestServer.shared().port());

  @AfterEach
  void close() {
    line.close();
  }

  private Lookout connected(Duration timeout) {
    Servers servers = Servers.parse(StoreUrl.parse("zk://127.0.0.1:" + line.port()), Set.of());
    Lookout lookout = new Lookout(Connector.to(servers), "test", timeout);
    lookout.awaitConnected();
    return lookout;
  }

  private static void prepare(Lookout lookout) {
    lookout.prepare("/lookout/below", Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
  }

  @Test
  void givenRequestsThatAreLostWithTheirConnection_thenTheyAreAskedAgain() throws Exception {
    Lookout lookout = connected(TestServer.LONG);
    try {
      line.weather(Relay.Weather.FROZEN);
      FutureTask<Boolean> prepared = new FutureTask<>(() -> prepare(lookout), true);
      Thread asking = new Thread(prepared, "asking");
      asking.start();
      await().atMost(TestServer.LONG).until(() -> asking.getState() == Thread.State.TIMED_WAITING);
      line.reset();
      line.weather(Relay.Weather.FAIR);
      assertThat(prepared.get(TestServer.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      lookout.close();
    }
  }

  @Test
  void givenConnectionThatBreaks_andNoOther_thenTheStoreCannotBeReached() {
    Lookout lookout = connected(Duration.ofSeconds(5));
    try {
      line.cut();
      assertThatThrownBy(() -> prepare(lookout))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageMatching(
              "Store 'test' (was connected, but has not answered|does not answer).*");
    } finally {
      lookout.close();
    }
  }
}
