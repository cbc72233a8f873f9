package io.mortise.cli.view;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
import java.security.SecureRandom;
import java.security.Security;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Examines a store by its reported settings and by measurements. Opens a session, acquires a lock,
 * and closes both.
 */
public final class StoreDiagnostics {
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** The time between two readings of the store's clock. */
  private static final Duration APART = Duration.ofSeconds(1);

  private static final int SAMPLES = 10;

  /** Shorter times are shown with hundredths of a millisecond. */
  private static final Duration SHORT = Duration.ofMillis(10);

  /** The clock drift that the engine allows for. */
  private static final double MOST_DRIFT = 0.001;

  /**
   * A host name, rather than an address, in the display name of a store: before a port or a path.
   */
  private static final Pattern HOST_NAME =
      Pattern.compile("(?:://|[:,(@ ])([A-Za-z][\\w.-]*)(?::\\d+|/)");

  private final LockStore store;
  private final SecureRandom random = new SecureRandom();
  private long beat;

  /** Examines a store, which the caller has to close. */
  public StoreDiagnostics(LockStore store) {
    this.store = store;
  }

  /** A reading of the store's clock with our own; the fastest of several. */
  private record StoreClockSample(long storeMicros, long nanos, Instant wall, long tookNanos) {}

  /** Returns the reported settings, then the measurements. Blocks for two seconds. */
  public StoreReport run() {
    StoreReport told = StoreReport.of(store);
    StoreReport.Builder report = StoreReport.about(told.mode());
    told.findings().forEach(report::add);
    hostNames(report, store.profile().display());
    tryLock(report);
    SessionSpec spec =
        new SessionSpec(
            SessionId.random(random),
            TTL,
            new ClientLabel("doctor", ProcessHandle.current().pid(), "mortise doctor"));
    LockStore part = store instanceof PartitionedStore parts ? parts.partition(0) : store;
    StoreSession session = part.open(spec, news -> {});
    try {
      StoreClockSample first = look(session);
      LockSupport.parkNanos(APART.toNanos());
      StoreClockSample second = look(session);
      measured(report, first, second);
    } finally {
      await(session.close());
    }
    return report.build();
  }

  /** Notes host names: a name moved in a failover takes effect when the JVM resolves it again. */
  static void hostNames(StoreReport.Builder report, String display) {
    String names =
        HOST_NAME
            .matcher(display)
            .results()
            .map(found -> found.group(1))
            .filter(name -> !name.equals("localhost"))
            .distinct()
            .collect(Collectors.joining(", "));
    if (!names.isEmpty()) {
      String seconds = Security.getProperty("networkaddress.cache.ttl");
      report.note(
          "host names",
          names,
          "A JVM keeps an address for 30 s by default; here networkaddress.cache.ttl is "
              + (seconds == null || seconds.isBlank() ? "not set." : seconds + "."),
          "If names move in a failover, set networkaddress.cache.ttl to a few seconds in each"
              + " application; leases outlive only a failover that is followed within their TTL.");
    }
  }

  /**
   * Acquires always the same lock, so that runs leave one record of an unused lock at most. Another
   * run may hold it for a moment; a killed one for a TTL.
   */
  private void tryLock(StoreReport.Builder report) {
    try (LockClient client = LockClient.builder().store(store).ttl(TTL).name("doctor").build();
        Lease lease = client.lock(LockSelection.OF_DOCTOR).acquireWithin(TTL.plus(PATIENCE))) {
      boolean hasTokens = store.profile().can(Capability.TOKEN);
      report.fine(
          "a lock",
          hasTokens ? "token " + lease.token() : "taken and given back",
          hasTokens
              ? "Could be taken and is given back: the rights suffice."
              : "The rights suffice.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("Interrupted.", e);
    }
  }

  private StoreClockSample look(StoreSession session) {
    StoreClockSample best = null;
    for (int i = 0; i < SAMPLES; i++) {
      long next = beat + 1;
      Instant wall = Instant.now();
      long sent = System.nanoTime();
      Renewal renewal = await(session.renew(beat, next, List.of()));
      long took = System.nanoTime() - sent;
      if (!(renewal instanceof Renewal.Renewed renewed)) {
        throw new StoreUnavailableException(
            "Store '" + store.profile().display() + "' did not renew a session: " + renewal);
      }
      beat = next;
      if (best == null || took < best.tookNanos()) {
        best =
            new StoreClockSample(
                renewed.storeMicros(), sent + took / 2, wall.plusNanos(took / 2), took);
      }
    }
    return Objects.requireNonNull(best);
  }

  private static void measured(
      StoreReport.Builder report, StoreClockSample first, StoreClockSample second) {
    long took = Math.min(first.tookNanos(), second.tookNanos());
    report.fine(
        "round trip",
        time(Duration.ofNanos(took)),
        "The quickest of " + 2 * SAMPLES + " renewals; an acquire takes about as long.");
    if (first.storeMicros() == 0) {
      return;
    }
    long offset = second.storeMicros() - ChronoUnit.MICROS.between(Instant.EPOCH, second.wall());
    report.fine(
        "clock",
        time(Duration.of(Math.abs(offset), ChronoUnit.MICROS))
            + " "
            + (offset < 0 ? "behind" : "ahead of")
            + " ours",
        "Nothing depends on that they show the same.");
    double local = second.nanos() - first.nanos();
    double rate = (second.storeMicros() - first.storeMicros()) * 1e3 / local - 1;
    double doubt = ((first.tookNanos() + second.tookNanos()) / 2.0 + 2e3) / local;
    String value = String.format(Locale.ROOT, "%+.3f %% (± %.3f %%)", rate * 100, doubt * 100);
    String meaning = "Clocks have to run at the same rate within 0.1 %.";
    if (Math.abs(rate) - doubt > MOST_DRIFT) {
      report.weak(
          "clock rate",
          value,
          meaning + " This one was set while we looked, is being slewed, or runs wrong.",
          "Look again; if it stays so, look after the clocks of both hosts.",
          "server-clock-forward");
    } else {
      report.fine("clock rate", value, meaning);
    }
  }

  /** Formats a duration, with hundredths of a millisecond if it is short. */
  public static String time(Duration time) {
    return time.compareTo(SHORT) < 0
        ? String.format(Locale.ROOT, "%.2fms", time.toNanos() / 1e6)
        : DurationText.format(time);
  }

  private <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    } catch (TimeoutException e) {
      throw new StoreUnavailableException(
          "Store '" + store.profile().display() + "' does not answer.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreUnavailableException("Interrupted.", e);
    }
  }
}
