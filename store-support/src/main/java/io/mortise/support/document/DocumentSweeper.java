package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.SessionId;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes leftovers of dead processes and idle locks. A sweep has a walk over the keys of each
 * kind: sessions, locks, rears of queues, facts. Each continues where it ended in the last sweep of
 * this process. Thread-safe.
 *
 * <p><b>Throughput.</b> A sweep that uses up its budget is soon followed by another. So sweeping
 * continues for as long as at least each eighth key is rubbish, regardless of how many are created
 * meanwhile. Each walk reads at most eight times the number of keys that the sweep may still
 * remove.
 *
 * <p><b>Many sessions.</b> Without a clock a session ends at the second observation, which may be
 * many sweeps after the first one. So the sweep remembers each session that stands, some 200 bytes
 * for each, and forgets those that a whole round has not met.
 *
 * <p><b>One process sweeps for all.</b> It writes a document once a minute. A process that has seen
 * that document unchanged for two minutes takes its turn ({@link SweepTurn}). No process writes it
 * first while there is no session, lock or fact: a sweep of an empty server leaves it empty.
 *
 * <p><b>Foreign keys.</b> Another program may have created a key that names no session or lock, or
 * a document of another format. The walk leaves it unchanged, and continues. A server that does not
 * answer ends a sweep; the next one begins behind the keys that were requested.
 */
final class DocumentSweeper {
  private static final Logger log = LoggerFactory.getLogger(DocumentSweeper.class);

  /** The result for a document that was listed and does not exist. */
  static final int NOT_THERE = -1;

  /** The document that the sweeping process writes. */
  static final String TURN = "sweep/turn";

  private static final int LOOKS_PER_REMOVAL = 8;

  private final LockUpdater locks;
  private final SweepTurn turn;
  private final List<KeySweep> walks;

  /**
   * A sweeper at the beginning of its first round.
   *
   * @param micros a clock that never goes back, by which the turn changes
   */
  DocumentSweeper(LockUpdater locks, FactDocuments facts, LongSupplier micros) {
    this.locks = locks;
    this.turn = new SweepTurn(micros);
    KeySweep ofSessions =
        new KeySweep(SessionDocuments.PREFIX, this::sweepSession, sessions()::endRound);
    KeySweep ofLocks = new KeySweep(LockUpdater.PREFIX, this::sweepLock, () -> {});
    KeySweep ofRears = new KeySweep(LongQueues.PREFIX, this::sweepRear, () -> {});
    KeySweep ofFacts = new KeySweep(FactDocuments.PREFIX, facts::sweep, () -> {});
    this.walks =
        locks.queues().splits()
            ? List.of(ofSessions, ofLocks, ofRears, ofFacts)
            : List.of(ofSessions, ofLocks, ofFacts);
  }

  private SessionDocuments sessions() {
    return locks.sessions();
  }

  private VersionedDocuments documents() {
    return sessions().updater().documents();
  }

  /** See {@link io.mortise.spi.LockStore#claimSweep}: nobody else has written the turn since. */
  CompletionStage<Boolean> claim() {
    return documents()
        .read(TURN)
        .thenCompose(
            found -> {
              if (found.text() == null) {
                return anythingOf(0)
                    .thenCompose(
                        any -> any ? take(found) : CompletableFuture.completedFuture(false));
              }
              return turn.isFree(found) ? take(found) : CompletableFuture.completedFuture(false);
            });
  }

  private CompletionStage<Boolean> keepTurn() {
    return documents()
        .read(TURN)
        .thenCompose(
            found -> turn.isOwn(found) ? take(found) : CompletableFuture.completedFuture(false));
  }

  private CompletionStage<Boolean> take(VersionedText found) {
    return documents().compareAndSet(TURN, found, turn.take()).thenApply(Written::made);
  }

  /** Whether there is a key of a kind from that walk on. */
  private CompletionStage<Boolean> anythingOf(int walk) {
    return walk == walks.size()
        ? CompletableFuture.completedFuture(false)
        : documents()
            .scan(walks.get(walk).prefix, "", 1)
            .thenCompose(
                keys ->
                    keys.isEmpty()
                        ? anythingOf(walk + 1)
                        : CompletableFuture.completedFuture(true));
  }

  /** See {@link io.mortise.spi.LockStore#sweep}. A continued sweep keeps its turn. */
  CompletionStage<Integer> sweep(int budget) {
    CompletionStage<Integer> sum = CompletableFuture.completedFuture(0);
    for (KeySweep walk : walks) {
      sum =
          sum.thenCompose(
              removed ->
                  removed >= budget
                      ? CompletableFuture.completedFuture(removed)
                      : walk.sweep(budget - removed).thenApply(more -> removed + more));
    }
    return sum.thenCompose(
        removed ->
            removed < budget
                ? CompletableFuture.completedFuture(removed)
                : keepTurn().handle((ours, failure) -> removed));
  }

  private CompletionStage<Integer> sweepLock(String key) {
    return locks.sweep(LockName.of(key.substring(LockUpdater.PREFIX.length())));
  }

  private CompletionStage<Integer> sweepRear(String key) {
    return locks.queues().sweep(LockName.of(key.substring(LongQueues.PREFIX.length())));
  }

  /** Ends a session whose time has passed. Its document stays until no renewal is in flight. */
  private CompletionStage<Integer> sweepSession(String key) {
    SessionId id = new SessionId(key.substring(SessionDocuments.PREFIX.length()));
    return sessions()
        .updateSwept(
            id,
            (session, found) -> {
              long now = sessions().updater().micros();
              boolean overdue = session != null && session.isOverdue(now);
              if (session == null) {
                return SessionDocuments.unchanged(NOT_THERE);
              } else if (!(overdue || session.hasEnded())) {
                return SessionDocuments.unchanged(0);
              } else if (session.isForgotten(now)) {
                return new Update<>(true, null, 1);
              }
              session.end();
              return SessionDocuments.changed(session, overdue, overdue ? 1 : 0);
            });
  }

  /** A walk over the keys of one kind. */
  private final class KeySweep {
    private final String prefix;
    private final Function<String, CompletionStage<Integer>> one;
    private final Runnable endRound;

    /** The last key of the last sweep; empty to start over. */
    private volatile String swept = "";

    KeySweep(String prefix, Function<String, CompletionStage<Integer>> one, Runnable endRound) {
      this.prefix = prefix;
      this.one = one;
      this.endRound = endRound;
    }

    /** Sweeps keys until the budget is removed, or enough keys were read. */
    CompletionStage<Integer> sweep(int budget) {
      int looks = (int) Math.min(Integer.MAX_VALUE, (long) LOOKS_PER_REMOVAL * budget);
      return documents()
          .scan(prefix, swept, looks)
          .thenCompose(
              keys ->
                  sweepKeys(keys, 0, budget)
                      .thenApply(
                          removed -> {
                            if (keys.size() < looks && removed < budget) {
                              swept = "";
                              endRound.run();
                            }
                            return removed;
                          }));
    }

    /** Sweeps keys in order, never more at a time than the budget has left. */
    private CompletionStage<Integer> sweepKeys(List<String> keys, int before, int budget) {
      if (keys.isEmpty() || before >= budget) {
        return CompletableFuture.completedFuture(before);
      } else if (keys.size() <= Math.min(ListedTexts.TOGETHER, budget - before)) {
        swept = keys.get(keys.size() - 1);
        return ListedTexts.each(keys, this::sweepKey)
            .thenApply(each -> each.stream().reduce(before, Integer::sum));
      }
      int half = keys.size() / 2;
      return sweepKeys(keys.subList(0, half), before, budget)
          .thenCompose(removed -> sweepKeys(keys.subList(half, keys.size()), removed, budget));
    }

    private CompletionStage<Integer> sweepKey(String key) {
      return CompletionStages.start(() -> one.apply(key))
          .thenCompose(
              removed ->
                  removed == NOT_THERE
                      ? documents().forget(key).thenApply(forgotten -> forgotten ? 1 : 0)
                      : CompletableFuture.completedFuture(removed))
          .exceptionally(failure -> skipped(key, failure));
    }

    /** A failure of one document does not stop the walk; a failure of the server does. */
    private int skipped(String key, Throwable failure) {
      Throwable reason = CompletionStages.cause(failure);
      if (reason instanceof StoreUnavailableException || reason instanceof Error) {
        throw new CompletionException(reason);
      }
      log.debug(
          "Document '{}' was not swept: {}",
          FailureText.quoted(key),
          FailureText.quoted(reason.toString()));
      return 0;
    }
  }
}
