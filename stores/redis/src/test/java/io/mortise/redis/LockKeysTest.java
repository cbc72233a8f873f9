package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys that a lock has: an idle lock has only a record that expires. */
class LockKeysTest {
  private static final LockName LOCK = LockName.of("k");
  private static final long RETENTION = 600_000;
  private static final Duration SHUT = Duration.ofHours(2);

  private static RedisServer server;
  private static ForeignClient admin;

  private LockStore store;
  private SimulatedProcess a;
  private SimulatedProcess b;

  @BeforeAll
  static void start() {
    server = RedisServers.any();
    admin = new ForeignClient(server.port());
  }

  @AfterAll
  static void stop() {
    admin.close();
    server.close();
  }

  @BeforeEach
  void open() {
    admin.call("FLUSHALL");
    store = RedisStore.open(server.url() + "?retention=10m");
    a = new SimulatedProcess(store);
    b = new SimulatedProcess(store);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static AttemptId hold(SimulatedProcess party, Mode mode, HoldTerms terms) {
    AttemptId attempt = party.attempt();
    assertThat(party.ask(acquiring(attempt, mode, terms))).isInstanceOf(Reply.Granted.class);
    return attempt;
  }

  private static AttemptId enqueue(SimulatedProcess party, Mode mode) {
    AttemptId attempt = party.attempt();
    assertThat(party.ask(acquiring(attempt, mode, HoldTerms.NONE)))
        .isInstanceOf(Reply.Queued.class);
    return attempt;
  }

  private static Request.Acquire acquiring(AttemptId attempt, Mode mode, HoldTerms terms) {
    return new Request.Acquire(LOCK, attempt, mode, true, terms, 1, 0, null);
  }

  private static long left() {
    return (Long) admin.call("PTTL", "m::l:k");
  }

  /** Only the record is left; notifications have gone with their holds. */
  private void assertForgottenAfter(long leastMillis) {
    assertThat((List<?>) admin.call("KEYS", "m::[lqod]:*")).isEqualTo(List.of("m::l:k"));
    assertThat(left()).isBetween(leastMillis, leastMillis + RETENTION);
    for (SimulatedProcess party : List.of(a, b)) {
      assertThat(party.notifications()).isEmpty();
      assertThat(party.notifications()).isEmpty();
    }
    assertThat((List<?>) admin.call("KEYS", "m::n:*")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"exclusive", "shared", "permits"})
  void givenWhatWasHeldAndWaitedFor_whenAllIsReleased_thenTheRecordIsLeft_forItsRetention(
      String kind) {
    Mode mode =
        switch (kind) {
          case "exclusive" -> Mode.EXCLUSIVE;
          case "shared" -> Mode.SHARED;
          default -> Mode.permits(2, 3);
        };
    Deque<AttemptId> open = new ArrayDeque<>();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 4; i++) {
        SimulatedProcess party = i % 2 == 0 ? a : b;
        AttemptId attempt = party.attempt();
        party.ask(acquiring(attempt, mode, HoldTerms.NONE));
        open.add(attempt);
      }
      assertThat(left()).as("as long as it is held").isEqualTo(-1);
      while (!open.isEmpty()) {
        AttemptId attempt = open.remove();
        Reply ended =
            (attempt.session().equals(a.spec.id()) ? a : b).ask(new Request.Abandon(LOCK, attempt));
        assertThat(((Reply.Ended) ended).was()).isEqualTo(Reply.AttemptState.HELD);
        assertThat((Long) admin.call("ZCARD", "m::q:k"))
            .as("nobody is there twice")
            .isLessThanOrEqualTo(Math.max(0, open.size() - 1));
      }
      assertForgottenAfter(1);
    }
  }

  @Test
  void givenWaitersThatGaveUp_whenTheHolderReleases_thenTheRecordIsLeft_forItsRetention() {
    AttemptId held = hold(a, Mode.EXCLUSIVE, HoldTerms.NONE);
    for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED)) {
      AttemptId waiting = enqueue(b, mode);
      assertThat((Long) admin.call("ZCARD", "m::q:k")).isEqualTo(1);
      b.abandon(LOCK, waiting);
    }
    assertThat((List<?>) admin.call("KEYS", "m::[qod]:*")).isEmpty();
    a.abandon(LOCK, held);
    assertForgottenAfter(1);
  }

  @Test
  void givenLockThatStaysShut_thenItsRecordOutlivesThat_andWaitersKeepItForEver() {
    AttemptId held = hold(a, Mode.EXCLUSIVE, new HoldTerms(null, SHUT, ""));
    a.abandon(LOCK, held);
    assertForgottenAfter(SHUT.toMillis());
    AttemptId waiting = enqueue(b, Mode.EXCLUSIVE);
    assertThat(left()).as("who waits must not be forgotten").isEqualTo(-1);
    b.abandon(LOCK, waiting);
    assertThat(left()).isGreaterThan(SHUT.toMillis());
    assertThat(BoundedWait.join(store.reopen(LOCK))).isTrue();
    assertForgottenAfter(1);
  }

  @Test
  void givenHoldersThatWereBroken_thenTheRecordIsLeft_forItsRetention() {
    for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED)) {
      AttemptId held = hold(a, mode, HoldTerms.NONE);
      BoundedWait.join(store.evict(LOCK, held, Eviction.BREAK));
      assertThat(a.notifications()).isNotEmpty();
      assertForgottenAfter(1);
    }
  }

  @Test
  void givenHoldersOfAClosedSession_whenTheirDeathIsProven_thenTheRecordIsLeft() {
    for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED)) {
      SimulatedProcess dead = new SimulatedProcess(store);
      hold(dead, mode, HoldTerms.NONE);
      SimulatedProcess.join(dead.session.close());
      SimulatedProcess.join(store.judge(dead.spec.id()));
      AttemptId next = b.attempt();
      Reply reply =
          b.ask(
              new Request.Acquire(
                  LOCK, next, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, dead.spec.id()));
      assertThat(reply).isInstanceOf(Reply.Granted.class);
      b.abandon(LOCK, next);
      assertForgottenAfter(1);
    }
  }
}
