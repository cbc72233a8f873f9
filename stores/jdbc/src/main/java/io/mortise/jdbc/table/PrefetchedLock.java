package io.mortise.jdbc.table;

import io.mortise.spi.AttemptId;
import io.mortise.support.table.LockRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rows of one lock that a transaction of a {@link PrefetchingLockRepository} has read. */
final class PrefetchedLock {
  /** Those of which it is known whether they wait. */
  final Set<String> attempts = new HashSet<>();

  @Nullable LockRow lock;

  /** A statement that is kept back writes the lock's row, as it is when that statement is sent. */
  boolean isLockWritten;

  long now;
  List<WaitRow> heads = new ArrayList<>();
  boolean allHeads;

  /** Of the asker's place; those that this step removes count too, so it may ask too soon. */
  long soonest = LockRecord.NEVER;

  final Map<String, WaitRow> waiters = new HashMap<>();
  @Nullable List<HoldRow> holds;
  final Set<String> asked = new HashSet<>();
  final Map<String, SessionRepository.SessionRow> sessions = new HashMap<>();

  PrefetchedLock(LockRepository.PrefetchTarget prefetchTarget) {
    AttemptId attempt = prefetchTarget.attempt();
    if (attempt != null) {
      attempts.add(attempt.encoded());
      asked.add(attempt.session().value());
    }
    prefetchTarget.others().forEach(other -> attempts.add(other.encoded()));
  }

  void add(WaitRow waiter) {
    waiters.put(waiter.attempt(), waiter);
  }
}
