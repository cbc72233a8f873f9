package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Evictions of holders that cannot be told at once. */
@SuppressWarnings("try") // Closing may be interrupted.
@Timeout(120)
class AttemptEvictionTest {
  private static final Duration LONG = TestServer.LONG;
  private static final LockName NAME = LockName.of("x");

  private final ZooKeeperServer server = ZooKeeperUnderTest.server();
  private final FaultInjectionProxy line = FaultInjectionProxy.to(server.port());
  private final NodeLayout layout = new NodeLayout("/evicting-" + System.nanoTime());
  private final BlockingQueue<SessionNotification> notifications = new LinkedBlockingQueue<>();

  private LockStore operator;
  private LockStore store;
  private ZooKeeper client;

  @BeforeEach
  void open() throws Exception {
    client = TestServer.connect(server.address(), LONG);
    operator = ZooKeeperStore.open(server.url() + layout.root() + "?tick=100ms");
    store =
        ZooKeeperStore.open(
            "zk://127.0.0.1:" + line.port() + layout.root() + "?tick=100ms&timeout=60s");
  }

  @AfterEach
  void closeAll() throws Exception {
    store.close();
    operator.close();
    client.close();
    line.close();
  }

  private StoreSession session(SessionId id, Duration ttl) {
    StoreSession session =
        store.open(
            new SessionSpec(id, ttl, new ClientLabel("host", 1, "held")), notifications::add);
    assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
        .isInstanceOf(Renewal.Renewed.class);
    return session;
  }

  private static AttemptId hold(StoreSession session, SessionId id) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    AttemptId attempt = new AttemptId(id, 1);
    session.submit(
        new Request.Acquire(NAME, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null),
        reply::complete);
    assertThat(reply).succeedsWithin(LONG).isInstanceOf(Reply.Granted.class);
    return attempt;
  }

  private void evict(AttemptId attempt, Eviction how) {
    assertThat(BoundedWait.join(operator.evict(NAME, attempt, how)).how())
        .isEqualTo(Reply.EndReason.EVICTED);
  }

  private int children(String path) {
    try {
      return client.getChildren(path, false).size();
    } catch (KeeperException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean isFree() {
    return children(layout.lock(NAME)) == 0;
  }

  @Test
  void givenHolderWithoutConnection_whenBroken_thenItIsToldWhenItComesBack() throws Exception {
    for (Eviction how : Eviction.values()) {
      SessionId id = SessionId.random(new SecureRandom());
      AttemptId attempt = hold(session(id, LONG), id);
      line.cut();

      evict(attempt, how);

      assertThat(isFree()).isEqualTo(how == Eviction.BREAK);
      line.lead(server.port());
      assertThat(notifications.poll(LONG.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo(new SessionNotification.HoldEnded(NAME, attempt, Reply.EndReason.EVICTED));
      BoundedWait.until(LONG, "its note was removed", () -> children(layout.notes(id)) == 0);
      BoundedWait.join(operator.evict(NAME, attempt, Eviction.BREAK));
    }
  }

  @Test
  void givenHolderThatDiesUntold_whenAnotherIsEvicted_thenNothingOfTheFirstIsLeft()
      throws Exception {
    SessionId dead = SessionId.random(new SecureRandom());
    AttemptId first = hold(session(dead, Duration.ofSeconds(2)), dead);
    line.cut();
    evict(first, Eviction.CLOSE);
    assertThat(children(layout.notes(dead))).isOne();
    BoundedWait.until(LONG, "the session expired", this::isFree);
    line.lead(server.port());

    SessionId id = SessionId.random(new SecureRandom());
    evict(hold(session(id, LONG), id), Eviction.CLOSE);

    BoundedWait.until(LONG, "its note was removed", () -> children(layout.notes(dead)) == 0);
  }

  @Test
  void givenOperatorWithAnotherAcl_whenClosed_thenTheHolderIsTold() throws Exception {
    SessionId id = SessionId.random(new SecureRandom());
    AttemptId attempt = hold(session(id, LONG), id);
    String url =
        server.url().replace("://", "://ops:secret@") + layout.root() + "?tick=100ms&acl=creator";
    try (LockStore other = ZooKeeperStore.open(url)) {
      BoundedWait.join(other.evict(NAME, attempt, Eviction.CLOSE));
    }
    assertThat(notifications.poll(LONG.toMillis(), TimeUnit.MILLISECONDS))
        .isEqualTo(new SessionNotification.HoldEnded(NAME, attempt, Reply.EndReason.EVICTED));
    BoundedWait.until(LONG, "its note was removed", () -> children(layout.notes(id)) == 0);
  }
}
