package io.mortise.support.document;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens a store of documents in a world whose time is virtual, perhaps without one of its rules.
 */
public final class DocumentStoreOpener {
  private DocumentStoreOpener() {}

  /** A removed rule. */
  public enum MissingRule {
    READS_WHERE_NOTHING_IS_WRITTEN,
    KEEPS_ORDER_OF_REQUESTS,
    COUNTS_RENEWALS,
    COUNTS_FROM_VERSION,
    COUNTS_FROM_LAST_START,
    COUNTS_FROM_FIRST_SIGHT,
    COMPARES_SPLITS,
    ENDS_IN_WHOLE_QUEUE,
    BRINGS_REAR_FORWARD
  }

  /**
   * Opens a store for one process.
   *
   * @param observer its monotonic clock for ending sessions; null if the server's clock ends them
   * @param awake a clock of the process that never goes back; not used if the server has one
   * @param pauses by milliseconds: waits for a random time up to that
   * @param mostInFront the most waiters that a lock's document keeps of a long queue
   * @param missing null for none
   */
  public static LockStore open(
      StoreProfile profile,
      VersionedDocuments documents,
      VersionedDocuments renewals,
      @Nullable Ticker observer,
      LongSupplier awake,
      IntFunction<Executor> pauses,
      int mostInFront,
      @Nullable MissingRule missing) {
    DocumentRules rules = new RulesBut(missing, mostInFront, pauses);
    return observer == null
        ? new DocumentStore(
            profile,
            documents,
            renewals,
            null,
            documents::micros,
            documents::micros,
            FactDocuments.byServer(documents),
            rules)
        : new DocumentStore(
            profile,
            documents,
            renewals,
            new ClocklessExpiry(observer, rules),
            documents::micros,
            awake,
            FactDocuments.byHosts(
                documents,
                observer,
                () -> Instant.ofEpochMilli(TimeUnit.MICROSECONDS.toMillis(documents.micros()))),
            rules);
  }

  private static final class RulesBut extends DocumentRules {
    private final @Nullable MissingRule missing;
    private final int mostInFront;
    private final IntFunction<Executor> pauses;

    RulesBut(@Nullable MissingRule missing, int mostInFront, IntFunction<Executor> pauses) {
      this.missing = missing;
      this.mostInFront = mostInFront;
      this.pauses = pauses;
    }

    @Override
    boolean readsWhereNothingIsWritten() {
      return missing != MissingRule.READS_WHERE_NOTHING_IS_WRITTEN;
    }

    @Override
    boolean keepsOrderOfRequests() {
      return missing != MissingRule.KEEPS_ORDER_OF_REQUESTS;
    }

    @Override
    boolean countsRenewals() {
      return missing != MissingRule.COUNTS_RENEWALS;
    }

    @Override
    boolean countsFromVersion() {
      return missing != MissingRule.COUNTS_FROM_VERSION;
    }

    @Override
    boolean countsFromLastStart() {
      return missing != MissingRule.COUNTS_FROM_LAST_START;
    }

    @Override
    boolean countsFromFirstSight() {
      return missing != MissingRule.COUNTS_FROM_FIRST_SIGHT;
    }

    @Override
    int mostInFront() {
      return mostInFront;
    }

    @Override
    int fewInFront() {
      return Math.min(8, mostInFront - 1);
    }

    @Override
    boolean comparesSplits() {
      return missing != MissingRule.COMPARES_SPLITS;
    }

    @Override
    boolean endsInWholeQueue() {
      return missing != MissingRule.ENDS_IN_WHOLE_QUEUE;
    }

    @Override
    boolean bringsRearForward() {
      return missing != MissingRule.BRINGS_REAR_FORWARD;
    }

    @Override
    Executor afterPause(int longestMillis) {
      return pauses.apply(longestMillis);
    }
  }
}
