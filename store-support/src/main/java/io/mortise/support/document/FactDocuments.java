package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.spi.Fact;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.FactDocument;
import io.mortise.support.table.LockRecord;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The facts' documents. A replacement is one compare-and-set of the document that has the expected
 * version, so it needs no clock. Thread-safe.
 *
 * <p><b>Expiry.</b> If the server has a clock, a fact expires by it. If not:
 *
 * <ul>
 *   <li>The writer stores the time of expiry, by the time of day of its host. The reader compares
 *       that with the time of day of its own host.
 *   <li>A fact kept for at most half a minute coordinates processes that run together, as those of
 *       a barrier. A process that has seen it change or appear uses its own monotonic clock. A
 *       process that finds it already there uses the time of day. In both cases the fact expires
 *       when this process has seen it unchanged for its whole time. So a difference of clocks
 *       matters only for a fact that a process found already there. The barrier refreshes its facts
 *       when half of their time is over, so they stand for hosts whose clocks are ahead by less
 *       than the other half.
 * </ul>
 *
 * <p>An expired fact stays for another day. So a host whose clock is ahead by less than that
 * removes nothing that others still read.
 */
final class FactDocuments {
  static final String PREFIX = "fact/";

  /** The longest time to keep that is observed: a barrier's generation has a shorter one. */
  private static final Duration OBSERVED = Duration.ofSeconds(30);

  /** For this time late writers find the document, and hosts whose clock is behind read it. */
  private static final long REMOVED_AFTER = LockRecord.micros(Duration.ofDays(1));

  private final DocumentUpdater updater;
  private final LongSupplier micros;
  private final @Nullable FactAges ages;

  private FactDocuments(
      VersionedDocuments documents, LongSupplier micros, @Nullable FactAges ages) {
    this.updater = new DocumentUpdater(documents, micros, DocumentRules.ALL);
    this.micros = micros;
    this.ages = ages;
  }

  /** Facts that expire by the server's clock. */
  static FactDocuments byServer(VersionedDocuments documents) {
    return new FactDocuments(documents, documents::micros, null);
  }

  /**
   * Facts that expire without a server's clock.
   *
   * @param ticker this process's monotonic clock
   * @param wallClock this host's time of day. It is read each time: a clock that was wrong when the
   *     process began may be corrected later
   */
  static FactDocuments byHosts(
      VersionedDocuments documents, Ticker ticker, InstantSource wallClock) {
    return new FactDocuments(
        documents, () -> TimeUnit.MILLISECONDS.toMicros(wallClock.millis()), new FactAges(ticker));
  }

  private static String key(LockName name) {
    return PREFIX + name.value();
  }

  CompletionStage<Fact> read(LockName name) {
    long asked = now();
    return updater
        .readToChange(key(name))
        .thenApply(
            text -> {
              FactDocument found = decode(name, text);
              if (ages != null) {
                ages.read(name, found == null ? 0 : found.version(), asked);
              }
              return stands(name, found);
            });
  }

  /** The monotonic clock; 0 if it does not count. */
  private long now() {
    return ages == null ? 0 : ages.now();
  }

  private static @Nullable FactDocument decode(LockName name, VersionedText found) {
    return DocumentCodec.decodeFact(key(name), found.text());
  }

  private Fact stands(LockName name, @Nullable FactDocument found) {
    return found == null || isOver(name, found)
        ? Fact.NONE
        : new Fact(found.version(), found.content());
  }

  private boolean isOver(LockName name, FactDocument found) {
    Duration keep = LockRecord.duration(found.keep());
    if (ages != null && keep.compareTo(OBSERVED) <= 0) {
      if (ages.isOlder(name, found.version(), keep)) {
        return true;
      } else if (ages.isYounger(name, found.version(), keep)) {
        return false;
      }
    }
    return micros.getAsLong() >= found.until();
  }

  /** See {@link io.mortise.spi.LockStore#replaceFact}. */
  CompletionStage<Long> replace(LockName name, long version, String content, Duration keep) {
    long asked = now();
    return updater
        .updateRemembered(
            key(name),
            found -> replaced(name, found, version, content, keep),
            found ->
                CompletableFuture.completedFuture(replaced(name, found, version, content, keep)))
        .thenApply(
            next -> {
              if (ages != null && next > 0) {
                ages.wrote(name, next, asked);
              }
              return next;
            });
  }

  private Update<Long> replaced(
      LockName name, VersionedText found, long version, String content, Duration keep) {
    FactDocument before = decode(name, found);
    if (stands(name, before).version() != version) {
      return new Update<>(false, null, 0L);
    }
    long now = micros.getAsLong();
    long kept = LockRecord.micros(keep);
    long next = before == null ? now : Math.max(before.version() + 1, now);
    return new Update<>(
        true, DocumentCodec.encode(new FactDocument(next, now + kept, kept, content)), next);
  }

  /** Removes the document of a key that expired long ago. */
  CompletionStage<Integer> sweep(String key) {
    return updater.update(
        key,
        found -> {
          FactDocument fact = DocumentCodec.decodeFact(key, found.text());
          if (fact == null) {
            return CompletableFuture.completedFuture(
                new Update<>(false, null, DocumentSweeper.NOT_THERE));
          }
          boolean isLeft = micros.getAsLong() - fact.until() >= REMOVED_AFTER;
          return CompletableFuture.completedFuture(new Update<>(isLeft, null, isLeft ? 1 : 0));
        });
  }
}
