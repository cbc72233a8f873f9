package io.mortise.simulation.toy;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.document.DocumentStoreOpener;
import io.mortise.support.document.VersionedDocuments;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A server with a round trip of a millisecond. Time is virtual, so runs are reproducible. Counts
 * requests by their kind and that of their document, as in {@code conflict lock}.
 */
final class FarServer {
  static final long ONE_WAY_MICROS = 500;

  private record Event(long at, long number, Runnable action) {}

  private final Random random = new Random(1);
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
  private final ClocklessToyDocuments server;
  private final Map<String, Integer> requests = new TreeMap<>();
  private long micros;
  private long numbers;

  /** A server that writes several documents at a time. */
  FarServer() {
    this(true);
  }

  FarServer(boolean writesTogether) {
    server = new ClocklessToyDocuments(writesTogether);
  }

  void later(long delay, Runnable action) {
    events.add(new Event(micros + delay, numbers++, action));
  }

  /** Lets time pass until nothing is in flight. */
  void runAll() {
    for (Event next = events.poll(); next != null; next = events.poll()) {
      micros = next.at();
      next.action().run();
    }
  }

  long micros() {
    return micros;
  }

  /** The time so far, in sequential round trips. */
  long roundTrips() {
    return micros / (2 * ONE_WAY_MICROS);
  }

  int count(String what) {
    return requests.getOrDefault(what, 0);
  }

  Map<String, Integer> requests() {
    return requests;
  }

  SessionId newId() {
    return SessionId.random(random);
  }

  /** Opens the store for a process. */
  LockStore store() {
    return DocumentStoreOpener.open(
        ClocklessToyStoreUnderTest.PROFILE,
        new FarDocuments(),
        new FarDocuments(),
        () -> TimeUnit.MICROSECONDS.toNanos(micros),
        () -> micros,
        millis -> task -> later(random.nextLong(1_000L * millis), task),
        32,
        null);
  }

  /** Opens a session of a new process. */
  StoreSession open(SessionId id, Consumer<SessionNotification> hints) {
    return open(store(), id, hints);
  }

  static StoreSession open(LockStore store, SessionId id, Consumer<SessionNotification> hints) {
    ClientLabel label = new ClientLabel("host", 1, "process");
    return store.open(new SessionSpec(id, Duration.ofMinutes(1), label), hints);
  }

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
    public boolean writesTogether() {
      return server.writesTogether();
    }

    @Override
    public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
      return ask("together", writes.get(0).key(), () -> server.compareAndSetAll(writes))
          .thenApply(
              written -> {
                if (!written.get(0).made()) {
                  requests.merge("conflict lock", 1, Integer::sum);
                }
                return written;
              });
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return server.scan(prefix, after, limit);
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return server.watch(key, found -> later(ONE_WAY_MICROS, () -> changed.accept(found)));
    }

    @Override
    public long micros() {
      return 1_700_000_000_000_000L;
    }
  }
}
