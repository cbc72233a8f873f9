package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The server's cost of a hand-off among few and among many waiters, each in a session of its own.
 * {@code -Dmortise.waiters=10000} runs it in full.
 */
class ManyWaitersTest {
  private static final LockName LOCK = LockName.of("contended");
  private static final int FEW = 10;

  /** Hand-offs measured together; the best of several measurements counts. */
  private static final int HAND_OFFS = 50;

  private static final int TIMES = 20;

  /** A process that holds or waits. */
  private record ProcessSession(SimulatedProcess party, AttemptId attempt) {}

  @Test
  @Timeout(600)
  void givenManyWaiters_thenAHandOffCostsTheServerNoMoreThanAmongTen() {
    int many = Integer.getInteger("mortise.waiters", 500);
    double amongFew = micros(FEW);
    double amongMany = micros(many);
    System.out.printf(
        "A hand-off and a new waiter cost the server %.1f µs among %d, %.1f µs among %d: %.2f"
            + " times%n",
        amongFew, FEW, amongMany, many, amongMany / amongFew);
    // The target is 1.5; a linear search would be at 50 and more.
    assertThat(amongMany / amongFew).isLessThan(10);
  }

  @Test
  void givenQueueThatIsNotLookedAtAsAWhole_thenWhoAsksAgainKeepsItsPlace_andAllAreServedInOrder() {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url())) {
      ArrayDeque<ProcessSession> processSessions = new ArrayDeque<>();
      for (int i = 0; i <= 20; i++) {
        enqueue(processSessions, new SimulatedProcess(store));
      }
      for (ProcessSession place : processSessions) {
        place.party().acquire(LOCK, place.attempt(), true);
      }
      ProcessSession tail = processSessions.getLast();
      assertThat(tail.party().acquire(LOCK, tail.attempt(), true))
          .isInstanceOfSatisfying(
              Reply.Queued.class, queued -> assertThat(queued.ahead()).isEqualTo(19));
      SimulatedProcess other = new SimulatedProcess(store);
      assertThat(other.acquire(LOCK, other.attempt(), false)).isInstanceOf(Reply.Busy.class);
      while (!processSessions.isEmpty()) {
        ProcessSession next = processSessions.remove();
        assertThat(next.party().acquire(LOCK, next.attempt(), true))
            .isInstanceOf(Reply.Granted.class);
        next.party().abandon(LOCK, next.attempt());
      }
    }
  }

  private static double micros(int waiters) {
    try (RedisServer server = RedisServers.any();
        LockStore store = RedisStore.open(server.url() + "?timeout=20s")) {
      ArrayDeque<ProcessSession> processSessions = new ArrayDeque<>();
      for (int i = 0; i <= waiters; i++) {
        enqueue(processSessions, new SimulatedProcess(store, Duration.ofHours(1)));
      }
      List<Double> measured = new ArrayList<>();
      for (int i = 0; i < TIMES; i++) {
        double before = scriptMicros(server);
        for (int j = 0; j < HAND_OFFS; j++) {
          ProcessSession holder = processSessions.remove();
          Reply ended = holder.party().abandon(LOCK, holder.attempt());
          assertThat(ended)
              .isInstanceOfSatisfying(
                  Reply.Ended.class, e -> assertThat(e.was()).isEqualTo(Reply.AttemptState.HELD));
          enqueue(processSessions, holder.party());
        }
        measured.add((scriptMicros(server) - before) / HAND_OFFS);
      }
      return measured.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }
  }

  private static void enqueue(ArrayDeque<ProcessSession> processSessions, SimulatedProcess party) {
    ProcessSession place = new ProcessSession(party, party.attempt());
    Reply reply = party.acquire(LOCK, place.attempt(), true);
    assertThat(reply)
        .isInstanceOf(processSessions.isEmpty() ? Reply.Granted.class : Reply.Queued.class);
    processSessions.add(place);
  }

  /** The server's time in scripts. */
  private static double scriptMicros(RedisServer server) {
    return server
        .ask("INFO", "commandstats")
        .get(0)
        .lines()
        .filter(line -> line.startsWith("cmdstat_evalsha:"))
        .map(line -> line.replaceAll(".*usec=(\\d+).*", "$1"))
        .mapToDouble(Double::parseDouble)
        .findFirst()
        .orElseThrow();
  }
}
