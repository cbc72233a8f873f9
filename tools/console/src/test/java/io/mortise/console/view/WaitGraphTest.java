package io.mortise.console.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Cycles of processes that wait for each other. */
class WaitGraphTest {
  private static final int SESSIONS = 7;

  private int attempts;

  @Test
  void givenRandomLocks_thenCyclesAreThoseThatATryOfAllWaysFinds() {
    long seed = Long.getLong("mortise.wait.seed", 28);
    Random random = new Random(seed);
    int withCycles = 0;
    for (int round = 0; round < 2000; round++) {
      boolean[][] waits = new boolean[SESSIONS][SESSIONS];
      List<LockInfo> locks = new ArrayList<>();
      for (int i = 0; i < random.nextInt(8); i++) {
        int holder = random.nextInt(SESSIONS);
        int waiter = random.nextInt(SESSIONS);
        waits[waiter][holder] |= waiter != holder;
        locks.add(lock("l" + i, holder, waiter));
      }
      Set<String> expected = cycles(waits);
      withCycles += expected.isEmpty() ? 0 : 1;
      Set<String> found = new TreeSet<>();
      new WaitGraph(locks).cycles().forEach(cycle -> found.add(new TreeSet<>(cycle).toString()));
      assertThat(found)
          .as("round %d; again: -Dmortise.wait.seed=%d", round, seed)
          .isEqualTo(expected);
    }
    assertThat(withCycles).as("rounds with a cycle").isBetween(100, 1900);
  }

  @Test
  void givenProcessThatWaitsForItself_thenItIsNoCycle_andIsARoot() {
    WaitGraph graph = new WaitGraph(List.of(lock("l", 1, 1)));
    assertThat(graph.cycles()).isEmpty();
    assertThat(graph.roots()).containsExactly(session(1));
  }

  @Test
  void givenBarrierWhosePartiesWatchEachOther_thenItIsNoCycle_andOtherWaitsAreOne() {
    String id = "x_-4567890ab";
    List<LockInfo> ring = new ArrayList<>();
    for (int party = 0; party < 3; party++) {
      ring.add(lock("barrier/day/42/" + id + "/7/" + party, party, (party + 1) % 3));
    }
    assertThat(new WaitGraph(ring).cycles()).isEmpty();
    assertThat(new WaitGraph(ring).roots()).hasSize(3);
    ring.add(lock("a", 0, 1));
    assertThat(new WaitGraph(ring).cycles()).isEmpty();
    ring.add(lock("barrier/day", 1, 0));
    assertThat(new WaitGraph(ring).cycles()).hasSize(1);
  }

  @Test
  void givenRunsInsideRuns_thenEachCountsAsTheOneAroundIt_andTheirDeadlockIsACycle() {
    List<LockInfo> locks =
        List.of(
            lock("a", List.of(run(1, 100, "mortise")), List.of(run(4, 203, "mortise in 202"))),
            lock(
                "b",
                List.of(run(3, 202, "mortise in 200")),
                List.of(run(2, 101, "mortise in 100"))),
            lock("c", List.of(run(5, 200, "mortise")), List.of(run(6, 300, "mortise in 9"))));
    WaitGraph graph = new WaitGraph(locks);
    assertThat(graph.cycles()).hasSize(1);
    assertThat(graph.cycles().get(0)).containsExactlyInAnyOrder(session(1), session(5));
    assertThat(graph.waits(session(5))).extracting(link -> link.lock().name()).containsExactly("a");
    assertThat(graph.waits(session(6))).as("the one around it is not seen").hasSize(1);
  }

  @Test
  void givenContainersWithOneHostNameAndProcess1_thenNoRunIsTakenForTheOneAroundAnother() {
    // The second container's inner run waits for an application that waits for the first container.
    List<LockInfo> locks =
        List.of(
            lock("a", List.of(run(1, 1, "mortise")), List.of(run(3, 900, "app"))),
            lock("b", List.of(run(2, 1, "mortise")), List.of()),
            lock("c", List.of(run(3, 900, "app")), List.of(run(4, 30, "mortise in 1"))));
    WaitGraph graph = new WaitGraph(locks);
    assertThat(graph.cycles()).isEmpty();
    assertThat(graph.waits(session(4))).hasSize(1);
  }

  @Test
  void givenNamesThatGoInARing_thenTheGraphIsMadeAllTheSame() {
    List<LockInfo> locks =
        List.of(
            lock("a", List.of(run(1, 1, "mortise in 2")), List.of(run(3, 3, "mortise in 3"))),
            lock("b", List.of(run(2, 2, "mortise in 1")), List.of(run(4, 4, "mortise in x"))));
    assertThat(new WaitGraph(locks).cycles()).isEmpty();
  }

  private static LockInfo lock(
      String name, List<LockParticipant> holders, List<LockParticipant> waiters) {
    return new LockInfo(name, OptionalInt.empty(), 1, Duration.ZERO, holders, waiters, 0, 0, null);
  }

  private LockParticipant run(int session, long pid, String client) {
    LockParticipant party = party(session);
    return new LockParticipant(
        party.attempt(),
        new ClientInfo("host", pid, client),
        "",
        party.share(),
        0,
        party.since(),
        party.sessionLeft(),
        null,
        false,
        null,
        Duration.ZERO,
        null);
  }

  /** Sessions that reach each other, by following all paths. */
  private static Set<String> cycles(boolean[][] waits) {
    boolean[][] reach = new boolean[SESSIONS][];
    for (int i = 0; i < SESSIONS; i++) {
      reach[i] = waits[i].clone();
    }
    for (int via = 0; via < SESSIONS; via++) {
      for (int from = 0; from < SESSIONS; from++) {
        for (int to = 0; to < SESSIONS; to++) {
          reach[from][to] |= reach[from][via] && reach[via][to];
        }
      }
    }
    Set<String> cycles = new TreeSet<>();
    for (int i = 0; i < SESSIONS; i++) {
      Set<String> cycle = new TreeSet<>();
      for (int k = 0; k < SESSIONS; k++) {
        if (reach[i][k] && reach[k][i]) {
          cycle.add(session(k));
        }
      }
      if (cycle.size() > 1) {
        cycles.add(cycle.toString());
      }
    }
    return cycles;
  }

  private LockInfo lock(String name, int holder, int waiter) {
    return new LockInfo(
        name,
        OptionalInt.empty(),
        1,
        Duration.ZERO,
        List.of(party(holder)),
        List.of(party(waiter)),
        0,
        0,
        null);
  }

  private LockParticipant party(int session) {
    return new LockParticipant(
        new AttemptId(new SessionId(session(session)), ++attempts).encoded(),
        new ClientInfo("h" + session, 1, ""),
        "",
        new Share(Access.EXCLUSIVE, 0, 0),
        0,
        Duration.ofSeconds(1),
        Duration.ofSeconds(9),
        null,
        false,
        null,
        Duration.ZERO,
        null);
  }

  private static String session(int number) {
    return "SSSSSSSSSSS" + number;
  }
}
