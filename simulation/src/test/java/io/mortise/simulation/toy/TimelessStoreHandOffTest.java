package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.document.DocumentStoreOpener;
import io.mortise.spi.document.VersionedDocuments;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What a grant costs where many processes wait for one lock, one attempt for each waiter. Time is
 * virtual: each run goes the same way.
 */
class TimelessStoreHandOffTest {
  private static final LockName LOCK = LockName.of("crowded");
  private static final int PROCESSES = 20;
  private static final int WAITERS = 5;
  private static final int ROUNDS = 4;
  private static final int GRANTS = PROCESSES * WAITERS * ROUNDS;
  private static final long ONE_WAY_MICROS = 500;

  private record Event(long at, long number, Runnable action) {}

  private final Random random = new Random(1);
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
  private final TimelessDocuments server = new TimelessDocuments();
  private final Map<String, Integer> requests = new TreeMap<>();
  private final Set<AttemptId> granted = new HashSet<>();
  private long micros;
  private long numbers;

  private void later(long delay, Runnable action) {
    events.add(new Event(micros + delay, numbers++, action));
  }

  private void runAll() {
    for (Event next = events.poll(); next != null; next = events.poll()) {
      micros = next.at();
      next.action().run();
    }
  }

  @Test
  void given100WaitersIn20Processes_whenTheyComeBack3Times_thenRequestsPerGrantAreBounded() {
    for (int i = 0; i < PROCESSES; i++) {
      new Waiting(i, ROUNDS).begin();
    }
    runAll();
    assertThat(granted).hasSize(GRANTS);
    assertThat(requests.get("conflict lock"))
        .as("the control: they are in each other's way, but most writes are made")
        .isBetween(1, GRANTS);
    assertThat(requests.get("read lock")).isLessThan(2 * GRANTS);
    assertThat(requests.get("read session")).isLessThan(5 * GRANTS);
    assertThat(micros / (2 * ONE_WAY_MICROS))
        .as("round trips, one after the other: %s", requests)
        .isLessThan(6 * GRANTS);
  }

  @Test
  void givenAcquireInFlight_whenMoreRequestsOfItsProcessCome_thenTheyShareOneWrite() {
    new Waiting(0, 1).begin();
    runAll();
    assertThat(granted).hasSize(WAITERS);
    assertThat(requests.get("write lock"))
        .as("the first acquire; the others, with its release; the other releases")
        .isEqualTo(1 + 1 + WAITERS - 1);
  }

  /** Holds what it is granted for no time. */
  private final class Waiting {
    private final SessionId id = SessionId.random(random);
    private final StoreSession session;
    private final int rounds;
    private int attempts;

    Waiting(int number, int rounds) {
      this.rounds = rounds;
      LockStore store =
          DocumentStoreOpener.open(
              TimelessStoreUnderTest.PROFILE,
              new FarDocuments(),
              new FarDocuments(),
              () -> TimeUnit.MICROSECONDS.toNanos(micros),
              () -> micros,
              millis -> task -> later(random.nextLong(1_000L * millis), task),
              null);
      ClientLabel label = new ClientLabel("host", number, "process");
      session = store.open(new SessionSpec(id, Duration.ofMinutes(1), label), this::hear);
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
      if (notification instanceof SessionNotification.Granted) {
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

  /** A server that is a millisecond away, there and back. */
  private final class FarDocuments implements VersionedDocuments {
    private <T> CompletionStage<T> ask(
        String what, String key, Supplier<CompletionStage<T>> request) {
      requests.merge(what + " " + key.substring(0, key.indexOf('/')), 1, Integer::sum);
      CompletableFuture<T> answer = new CompletableFuture<>();
      later(
          ONE_WAY_MICROS,
          () -> request.get().thenAccept(it -> later(ONE_WAY_MICROS, () -> answer.complete(it))));
      return answer;
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return ask("read", key, () -> server.read(key));
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return ask("write", key, () -> server.compareAndSet(key, found, text))
          .thenApply(
              written -> {
                if (!written.made()) {
                  requests.merge("conflict " + key.substring(0, key.indexOf('/')), 1, Integer::sum);
                }
                return written;
              });
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return server.scan(prefix, after, limit);
    }

    @Override
    public Runnable watch(String key, Runnable changed) {
      return server.watch(key, () -> later(ONE_WAY_MICROS, changed));
    }

    @Override
    public long micros() {
      return 1_700_000_000_000_000L;
    }
  }
}
