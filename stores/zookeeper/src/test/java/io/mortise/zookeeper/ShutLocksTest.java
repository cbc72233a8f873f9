package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks that at-least times keep shut. */
@Timeout(120)
class ShutLocksTest {
  private static final Duration LONG = TestServer.LONG;
  private static final LockName NAME = LockName.of("x");

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final NodeLayout layout = new NodeLayout("/shut-" + System.nanoTime());

  private LockStore open() {
    return ZooKeeperStore.open(server.url() + layout.root() + "?tick=100ms&timeout=60s");
  }

  private static Reply ask(StoreSession session, Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(request, reply::complete);
    assertThat(reply).succeedsWithin(LONG);
    return reply.join();
  }

  @Test
  void givenShutLockThatNobodyWants_whenAnotherProcessSweeps_thenItOpens_andNothingIsLeft()
      throws Exception {
    ZooKeeper client = TestServer.connect(server.address(), LONG);
    SessionId id = SessionId.random(new SecureRandom());
    AttemptId attempt = new AttemptId(id, 1);
    HoldTerms terms = new HoldTerms(null, Duration.ofSeconds(1), "");
    try (LockStore store = open();
        LockStore other = open()) {
      StoreSession session =
          store.open(new SessionSpec(id, LONG, new ClientLabel("host", 1, "x")), hint -> {});
      assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
          .isInstanceOf(Renewal.Renewed.class);
      assertThat(
              ask(
                  session,
                  new Request.Acquire(NAME, attempt, Mode.EXCLUSIVE, true, terms, 1, 0, null)))
          .isInstanceOf(Reply.Granted.class);
      assertThat(ask(session, new Request.Abandon(NAME, attempt))).isInstanceOf(Reply.Ended.class);
      assertThat(client.getChildren(layout.lock(NAME), false)).as("its mark").hasSize(1);

      BoundedWait.until(LONG, "it opened", () -> BoundedWait.join(other.sweep(100)) > 0);

      assertThat(client.getChildren(layout.lock(NAME), false)).isEmpty();
      assertThat(client.getChildren(layout.leasts(), false)).isEmpty();
      assertThat(client.exists(layout.facts(), false))
          .as("by which sweepers take turns")
          .isNotNull();
    } finally {
      client.close();
    }
  }
}
