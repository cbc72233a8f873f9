package io.mortise.simulation;

import io.mortise.support.document.DocumentStoreOpener.MissingRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Flaws of a store of documents, each with one rule removed or weakened. */
enum DocumentFlaw {
  /** A step that writes nothing is answered from memory. */
  ANSWERS_FROM_MEMORY(MissingRule.READS_WHERE_NOTHING_IS_WRITTEN, 4713, "bounded wait"),
  /** Requests of one lock overtake each other. */
  REQUESTS_OVERTAKE(MissingRule.KEEPS_ORDER_OF_REQUESTS, 13126, "bounded wait"),
  /** An observer watches beats, so a repeated renewal does not count. */
  COUNTS_BEATS(MissingRule.COUNTS_RENEWALS, 9434, "exclusion, bond"),
  /** A recreated session counts its renewals from 0. */
  COUNTS_FROM_ZERO(MissingRule.COUNTS_FROM_VERSION, 3830, "exclusion, bond, checking resource"),
  /** An at-least time that starts again is counted from its first start. */
  COUNTS_FROM_THE_FIRST_START(MissingRule.COUNTS_FROM_LAST_START, 13133, "at least"),
  /** The end of an at-least time is the time of day that its writer expected. */
  BELIEVES_THE_WRITERS_CLOCK(MissingRule.COUNTS_FROM_FIRST_SIGHT, 19687, "at least"),
  /** A newcomer joins a rear whose waiters have moved. */
  JOINS_ANY_SPLIT(MissingRule.COMPARES_SPLITS, 18535, "bounded wait"),
  /** An end of an attempt that the lock's document does not know leaves the rear as it is. */
  ENDS_WITHOUT_THE_REAR(MissingRule.ENDS_IN_WHOLE_QUEUE, 1025, "bounded wait"),
  /** The lock's document may be without a waiter while the rear has some. */
  LEAVES_THE_REAR_BEHIND(MissingRule.BRINGS_REAR_FORWARD, 6572, "bounded wait"),
  /** An observer waits for half of a TTL only. */
  COUNTS_HALF_A_TTL(null, 8, "exclusion, bond, checking resource, at least"),
  /** The server writes sessions together with a lock over whatever version they have. */
  COMPARES_THE_LOCK_ONLY(null, 6572, "bounded wait"),
  /** The server makes some of the writes that belong together. */
  WRITES_A_PART(null, 4, "mint");

  final @Nullable MissingRule rule;

  /** A seed known to reveal the flaw, run first. */
  final long knownSeed;

  private final String caughtBy;

  DocumentFlaw(@Nullable MissingRule rule, long knownSeed, String caughtBy) {
    this.rule = rule;
    this.knownSeed = knownSeed;
    this.caughtBy = caughtBy;
  }

  /** The properties of which it breaks at least one. */
  List<String> caughtBy() {
    return List.of(caughtBy.split(", ", -1));
  }
}
