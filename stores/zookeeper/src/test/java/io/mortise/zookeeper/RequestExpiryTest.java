package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests that a server does not answer. */
class RequestExpiryTest {
  private static final LockName LOCK = LockName.of("x");

  /** Longer than the test: a connection is dropped after two thirds of it. */
  private static final Duration TTL = Duration.ofMinutes(2);

  private static Request acquire(SessionDriver driver) {
    return new Request.Acquire(
        LOCK, driver.attempt(), Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null);
  }

  @Test
  void givenReceiverThatThrows_thenLaterRequestsExpireAllTheSame() {
    try (FaultInjectionProxy way = FaultInjectionProxy.to(TestServer.shared().port());
        LockStore store =
            ZooKeeperStore.open(
                "zk://127.0.0.1:" + way.port() + "/expiry?tick=100ms&timeout=500ms")) {
      SessionDriver driver = SessionDriver.open(store, TTL, "expiry");
      way.condition(NetworkCondition.FROZEN);
      CompletableFuture<Reply> first = new CompletableFuture<>();
      driver
          .session()
          .submit(
              acquire(driver),
              reply -> {
                throw new IllegalStateException("for a test");
              });
      driver.session().submit(acquire(driver), first::complete);
      assertThat(BoundedWait.join(first)).isInstanceOf(Reply.Failed.class);
      CompletableFuture<Reply> second = new CompletableFuture<>();
      driver.session().submit(acquire(driver), second::complete);
      assertThat(BoundedWait.join(second)).isInstanceOf(Reply.Failed.class);
      way.condition(NetworkCondition.FAIR);
    }
  }
}
