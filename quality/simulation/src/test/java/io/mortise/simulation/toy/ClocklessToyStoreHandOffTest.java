package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreSession;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The cost of a grant when many processes wait for one lock, with one attempt for each waiter. Time
 * is virtual, so runs are reproducible.
 */
class ClocklessToyStoreHandOffTest {
  private static final LockName LOCK = LockName.of("crowded");
  private static final int PROCESSES = 20;
  private static final int WAITERS = 5;
  private static final int ROUNDS = 4;
  private static final int GRANTS = PROCESSES * WAITERS * ROUNDS;

  private final FarServer server = new FarServer();
  private final Set<AttemptId> granted = new HashSet<>();

  @Test
  void given100WaitersIn20Processes_whenTheyComeBack3Times_thenRequestsPerGrantAreBounded() {
    for (int i = 0; i < PROCESSES; i++) {
      new Waiting(ROUNDS).begin();
    }
    server.runAll();
    assertThat(granted).hasSize(GRANTS);
    assertThat(server.count("conflict lock"))
        .as("the control: they are in each other's way, but most writes are made")
        .isBetween(1, GRANTS);
    assertThat(server.count("read lock")).isLessThan(2 * GRANTS);
    assertThat(server.count("read session")).isLessThan(5 * GRANTS);
    assertThat(server.roundTrips())
        .as("round trips, one after the other: %s", server.requests())
        .isLessThan(6 * GRANTS);
  }

  /** Two processes, each of which wants the lock again as soon as it has released it. */
  @ParameterizedTest
  @CsvSource({"true, 2, 2, 1000", "false, 5, 4, 2000"})
  void givenTwoProcesses_whenTheyHandALockToEachOther_thenAGrantComesWithTheReleasesOwnWrite(
      boolean together, int writes, int reads, long micros) {
    HandOffs handOffs = new HandOffs(together);
    handOffs.run();
    FarServer far = handOffs.far;
    assertThat(handOffs.waits)
        .as("from a release to the next grant: half a round trip and a notification")
        .hasSize(HandOffs.COUNTED)
        .containsOnly(micros);
    assertThat(far.count("conflict lock") + far.count("conflict session")).isZero();
    assertThat(far.count("together lock") + far.count("write lock") + far.count("write session"))
        .as("writes in %s", far.requests())
        .isEqualTo(writes * HandOffs.COUNTED);
    assertThat(far.count("read lock") + far.count("read session"))
        .as("reads in %s, while the lock is held", far.requests())
        .isEqualTo(reads * HandOffs.COUNTED);
  }

  @Test
  void givenAcquireInFlight_whenMoreRequestsOfItsProcessCome_thenTheyShareOneWrite() {
    new Waiting(1).begin();
    server.runAll();
    assertThat(granted).hasSize(WAITERS);
    assertThat(server.count("write lock") + server.count("together lock"))
        .as("the first acquire; the others, with its release; the other releases")
        .isEqualTo(1 + 1 + WAITERS - 1);
  }

  /** A process that acquires the lock again and again. */
  private abstract static class Contender {
    final SessionId id;
    final StoreSession session;
    int attempts;

    Contender(FarServer server) {
      id = server.newId();
      session = server.open(id, this::hear);
    }

    final void acquire() {
      AttemptId attempt = new AttemptId(id, ++attempts);
      session.submit(
          new Request.Acquire(LOCK, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null),
          reply -> {
            if (reply instanceof Reply.Granted) {
              granted(attempt);
            }
          });
    }

    private void hear(SessionNotification notification) {
      if (notification instanceof SessionNotification.HoldGranted) {
        granted(notification.attempt());
      }
    }

    /** Handles a grant, which may be told twice. */
    abstract void granted(AttemptId attempt);
  }

  /** A lock that two processes hold by turns. */
  private static final class HandOffs {
    static final int COUNTED = 100;
    private static final int UNCOUNTED = 10;
    private static final long HELD_MICROS = 20_000;

    private final FarServer far;
    private final List<Long> waits = new ArrayList<>();
    private int left = UNCOUNTED + COUNTED;
    private long released;

    HandOffs(boolean together) {
      far = new FarServer(together);
    }

    void run() {
      List<Turn> turns = List.of(new Turn(), new Turn());
      turns.forEach(turn -> turn.session.renew(0, 1, List.of()));
      far.runAll();
      turns.forEach(Turn::acquire);
      far.runAll();
    }

    /** One of the processes. */
    private final class Turn extends Contender {
      private final Set<AttemptId> held = new HashSet<>();

      Turn() {
        super(far);
      }

      @Override
      void granted(AttemptId attempt) {
        if (!held.add(attempt)) {
          return;
        }
        waits.add(far.micros() - released);
        if (left-- > 0) {
          far.later(HELD_MICROS, () -> release(attempt));
        }
      }

      private void release(AttemptId attempt) {
        if (left == COUNTED - 1) {
          waits.clear();
          far.requests().clear();
        }
        released = far.micros();
        session.submit(new Request.Abandon(LOCK, attempt), reply -> acquire());
      }
    }
  }

  /** A waiter that releases its grants at once. */
  private final class Waiting extends Contender {
    private final int rounds;

    Waiting(int rounds) {
      super(server);
      this.rounds = rounds;
    }

    void begin() {
      var unused =
          session
              .renew(0, 1, List.of())
              .thenAccept(
                  renewed -> {
                    for (int i = 0; i < WAITERS; i++) {
                      acquire();
                    }
                  });
    }

    @Override
    void granted(AttemptId attempt) {
      if (granted.add(attempt)) {
        session.submit(
            new Request.Abandon(LOCK, attempt),
            reply -> {
              if (attempts < WAITERS * rounds) {
                acquire();
              }
            });
      }
    }
  }
}
