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
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.ZooKeeperServer;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A session with many requests at once: transactions behind each other, and reads for many. */
@SuppressWarnings("try") // Closing may be interrupted.
@Tag("extended")
class ManyRequestsTest {
  private static final Duration LONG = Duration.ofSeconds(90);
  private static final Duration TTL = Duration.ofMinutes(2);

  private final ZooKeeperServer server = TestServer.shared();
  private final SessionId id = SessionId.random(new SecureRandom());

  /** The token of each attempt's last notified grant. */
  private final Map<AttemptId, Long> tokens = new ConcurrentHashMap<>();

  private final Queue<Reply> surplus = new ConcurrentLinkedQueue<>();

  private void heard(SessionNotification sessionNotification) {
    if (sessionNotification instanceof SessionNotification.HoldGranted granted) {
      tokens.put(granted.attempt(), granted.token());
    }
  }

  private LockStore open(String root) {
    return ZooKeeperStore.open(server.url() + root + "?tick=100ms&timeout=60s");
  }

  private StoreSession session(LockStore store) throws Exception {
    StoreSession session =
        store.open(new SessionSpec(id, TTL, new ClientLabel("host", 1, "many")), this::heard);
    assertThat(session.renew(0, 1, List.of()).toCompletableFuture().get())
        .isInstanceOf(Renewal.Renewed.class);
    return session;
  }

  private AttemptId attempt(int number) {
    return new AttemptId(id, 1 + number);
  }

  private static Request.Acquire acquire(LockName name, AttemptId attempt) {
    return new Request.Acquire(name, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null);
  }

  private CompletableFuture<Reply> submit(StoreSession session, Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(
        request,
        answer -> {
          if (answer instanceof Reply.Granted granted) {
            tokens.put(granted.attempt(), granted.token());
          }
          if (!reply.complete(answer)) {
            surplus.add(answer);
          }
        });
    return reply;
  }

  private static LockName name(int i) {
    return LockName.of("lock-" + i);
  }

  /** The first of them makes its transaction fail as a whole, while the next is in flight. */
  @Test
  void givenTransactionsBehindEachOther_whenContainersAreGone_thenAllIsDoneAllTheSame()
      throws Exception {
    int many = 300;
    NodeLayout nodeLayout = new NodeLayout("/lost-containers");
    try (LockStore store = open("/lost-containers");
        ZooKeeper other = TestServer.connect(server.address(), Duration.ofSeconds(30))) {
      StoreSession session = session(store);
      List<CompletableFuture<Reply>> first = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        first.add(submit(session, acquire(name(i), attempt(i))));
      }
      for (CompletableFuture<Reply> reply : first) {
        assertThat(reply.get()).isInstanceOf(Reply.Granted.class);
      }
      List<CompletableFuture<Reply>> ends = new ArrayList<>();
      for (int i = 0; i < many; i += 2) {
        ends.add(submit(session, new Request.Abandon(name(i), attempt(i))));
      }
      for (CompletableFuture<Reply> end : ends) {
        assertThat(end.get()).isInstanceOf(Reply.Ended.class);
      }
      for (int i = 0; i < many; i += 6) {
        try {
          other.delete(nodeLayout.lock(name(i)), -1);
        } catch (KeeperException.NoNodeException e) {
          // The server found the container empty.
        }
      }

      // Locks with odd numbers are held: released and acquired again at once.
      List<CompletableFuture<Reply>> second = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        if (i % 2 == 1) {
          ends.add(submit(session, new Request.Abandon(name(i), attempt(i))));
        }
        second.add(submit(session, acquire(name(i), attempt(1_000 + i))));
      }

      for (CompletableFuture<Reply> reply : second) {
        assertThat(reply.get()).isInstanceOfAny(Reply.Granted.class, Reply.Queued.class);
      }
      BoundedWait.until(
          LONG,
          "each has its turn",
          () -> {
            for (int i = 0; i < many; i++) {
              if (!tokens.containsKey(attempt(1_000 + i))) {
                return false;
              }
            }
            return true;
          });
      for (int i = 0; i < many; i++) {
        assertThat(tokens.get(attempt(1_000 + i))).isGreaterThan(tokens.get(attempt(i)));
        assertThat(other.getChildren(nodeLayout.lock(name(i)), false)).hasSize(1);
      }
      assertThat(ends.stream().map(CompletableFuture::join))
          .allMatch(
              end ->
                  end instanceof Reply.Ended ended
                      && ended.was() == Reply.AttemptState.HELD
                      && ended.how() == Reply.EndReason.RELEASED);
      assertThat(surplus).isEmpty();
      session.close().toCompletableFuture().get();
    }
  }

  @Test
  void givenManyWaitersThatAskAgain_whenOthersLeaveAndTheLockGoesOn_thenEachIsAnsweredOnce()
      throws Exception {
    int many = 400;
    LockName name = LockName.of("x");
    Random random = new Random(4_711);
    NodeLayout nodeLayout = new NodeLayout("/asking-again");
    try (LockStore store = open("/asking-again");
        ZooKeeper other = TestServer.connect(server.address(), Duration.ofSeconds(30))) {
      StoreSession session = session(store);
      assertThat(submit(session, acquire(name, attempt(0))).get())
          .isInstanceOf(Reply.Granted.class);
      List<CompletableFuture<Reply>> queued = new ArrayList<>();
      for (int i = 1; i <= many; i++) {
        queued.add(submit(session, acquire(name, attempt(i))));
      }
      for (CompletableFuture<Reply> reply : queued) {
        assertThat(reply.get()).isInstanceOf(Reply.Queued.class);
      }
      List<Integer> leaving = new ArrayList<>();
      // Not those whose turn comes here.
      for (int i = 50; i <= many; i += 2) {
        leaving.add(i);
      }
      Collections.shuffle(leaving, random);

      // All poll repeatedly, while some of them leave and the lock is handed on.
      Queue<CompletableFuture<Reply>> polls = new ConcurrentLinkedQueue<>();
      List<CompletableFuture<Reply>> ends = new ArrayList<>();
      int held = 0;
      for (int round = 0; round < 12; round++) {
        for (int i = 1; i <= many; i++) {
          polls.add(submit(session, acquire(name, attempt(i))));
          if (i % 40 == 0 && !leaving.isEmpty()) {
            int gone = leaving.remove(leaving.size() - 1);
            ends.add(submit(session, new Request.Abandon(name, attempt(gone))));
          }
        }
        ends.add(submit(session, new Request.Abandon(name, attempt(held))));
        int before = held;
        held++;
        int next = held;
        BoundedWait.until(
            LONG, next + " follows " + before, () -> tokens.containsKey(attempt(next)));
        assertThat(tokens.get(attempt(next))).isGreaterThan(tokens.get(attempt(before)));
      }

      for (CompletableFuture<Reply> poll : polls) {
        assertThat(poll.get())
            .isInstanceOfAny(Reply.Queued.class, Reply.Granted.class, Reply.Refused.class);
      }
      for (CompletableFuture<Reply> end : ends) {
        assertThat(end.get()).isInstanceOf(Reply.Ended.class);
      }
      assertThat(other.getChildren(nodeLayout.lock(name), false)).hasSize(many + 1 - ends.size());
      assertThat(surplus).isEmpty();
      session.close().toCompletableFuture().get();
    }
  }

  @Test
  void givenManyRequestsOfOneProcess_whenItsHolderGivesBack_thenThatDoesNotWaitForAllOfThem()
      throws Exception {
    int many = 500;
    Queue<String> answers = new ConcurrentLinkedQueue<>();
    LockName name = LockName.of("x");
    try (LockStore store = open("/order")) {
      StoreSession session = session(store);
      assertThat(submit(session, acquire(name, attempt(1))).get())
          .isInstanceOf(Reply.Granted.class);

      for (int i = 2; i <= many; i++) {
        session.submit(acquire(name, attempt(i)), reply -> answers.add("other"));
      }
      session.submit(new Request.Abandon(name, attempt(1)), reply -> answers.add(reply.toString()));
      BoundedWait.until(LONG, "all are answered", () -> answers.size() == many);

      List<String> order = List.copyOf(answers);
      int ended = 0;
      while (order.get(ended).equals("other")) {
        ended++;
      }
      // A round trip or two, while each of the others takes at least one of its own.
      assertThat(ended).isLessThan(many / 2);
      assertThat(order.get(ended)).contains("HELD");
    }
  }
}
