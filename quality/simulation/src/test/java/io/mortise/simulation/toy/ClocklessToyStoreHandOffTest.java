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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

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

  @Test
  void givenAcquireInFlight_whenMoreRequestsOfItsProcessCome_thenTheyShareOneWrite() {
    new Waiting(1).begin();
    server.runAll();
    assertThat(granted).hasSize(WAITERS);
    assertThat(server.count("write lock"))
        .as("the first acquire; the others, with its release; the other releases")
        .isEqualTo(1 + 1 + WAITERS - 1);
  }

  /** A waiter that releases its grants at once. */
  private final class Waiting {
    private final SessionId id = server.newId();
    private final StoreSession session = server.open(id, this::hear);
    private final int rounds;
    private int attempts;

    Waiting(int rounds) {
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

    private void acquire() {
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

    private void granted(AttemptId attempt) {
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
