package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.LockDocument;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Long queues, where a server writes several documents together: the lock's document has the first
 * waiters, and another one, the <i>rear</i>, has the later ones. A newcomer writes the rear, a
 * release the lock: they do not fail each other's writes, and neither writes the whole queue.
 *
 * <p><b>Split.</b> The lock's document and the rear name the split that they belong to. A split is
 * named by the version of the rear that it replaced, so no two splits of a lock have the same name.
 * A request of a session needs the lock's document alone, unless few waiters are in front, the
 * request ends or only tries for an attempt that this document does not know, or a newcomer could
 * not be added to the rear. Those requests, and all steps of operators and sweeps, join both
 * documents, apply to the whole queue, and write both in one transaction: as a new split, or with
 * all waiters back in the lock's document.
 *
 * <p><b>No attempt stands twice.</b> A newcomer is added to the rear of the split in which the
 * lock's document did not know it: no waiter has moved between the two reads. The end of an attempt
 * that the lock's document does not know writes both, so that no acquire sent before can follow.
 *
 * <p><b>Progress.</b> While there is a split, the lock's document has a waiter. A step that finds
 * few waiters there moves others up.
 *
 * <p>Thread-safe.
 *
 * @param splits whether queues are split: the server has versions that are numbers, and writes
 *     documents together
 */
record LongQueues(DocumentUpdater updater, boolean splits) {
  static final String PREFIX = "rear/";

  /**
   * The most characters of both documents to which a newcomer is added alone: some 450 waiters. A
   * longer queue is written whole, so that a server refuses the newcomer, and not the steps that
   * shorten the queue. Far below Consul's limit of 512 kB a transaction and etcd's of 1.5 MB.
   */
  private static final int MOST_TEXT = 32_768;

  /** The longest pause before a lock is read again whose waiters have moved meanwhile. */
  private static final int PAUSE_MILLIS = 8;

  /**
   * Acquires that are to wait in the rear.
   *
   * @param split in which the lock's document does not know them
   * @param inFront the number of waiters in the lock's document
   * @param textInFront the length of that document
   */
  record Newcomers(long split, int inFront, int textInFront, List<Request.Acquire> requests) {
    static final Newcomers NONE = new Newcomers(0, 0, 0, List.of());
  }

  /** The rear as it was found, and the lock with all its waiters. */
  record WholeQueue(VersionedText rear, LockDocument lock) {}

  private static String key(LockName name) {
    return PREFIX + name.value();
  }

  private static @Nullable LockDocument decode(LockName name, VersionedText rear) {
    return DocumentCodec.decode(key(name), name, rear.text());
  }

  /** Whether a lock's later waiters are to move into the rear. */
  boolean isTooLong(LockDocument lock) {
    return lock.split() == 0 && splits && lock.waiters > updater.rules().mostInFront();
  }

  /**
   * Whether a step that was taken without the rear has to be repeated with it.
   *
   * @param next the lock's document after the step; null for none
   */
  boolean needsRear(LockDocument lock, @Nullable LockDocument next, boolean changed) {
    boolean fewLeft = changed && lock.waiters <= updater.rules().fewInFront();
    return next == null
        || (updater.rules().bringsRearForward() && (fewLeft || !next.hasWaiterOf(lock)));
  }

  /**
   * Joins a lock's document with the rear.
   *
   * @return null if the lock's document has changed since it was found
   */
  CompletionStage<@Nullable WholeQueue> whole(VersionedText found, LockDocument lock) {
    return updater.documents().read(key(lock.name)).thenCompose(rear -> join(found, lock, rear));
  }

  private CompletionStage<@Nullable WholeQueue> join(
      VersionedText found, LockDocument lock, VersionedText rear) {
    LockDocument later = decode(lock.name, rear);
    if (lock.split() == 0) {
      return completed(new WholeQueue(rear, lock));
    } else if (later != null && lock.split() == later.split()) {
      return completed(new WholeQueue(rear, lock.withRear(later)));
    }
    // If the lock has not changed, somebody has removed or restored the rear alone.
    LockDocument none = new LockDocument(lock.name, lock.capacity);
    return updater
        .documents()
        .read(LockUpdater.key(lock.name))
        .thenApply(
            now ->
                now.version().equals(found.version())
                    ? new WholeQueue(rear, lock.withRear(none))
                    : null);
  }

  /** As {@link #whole}, with a rear that can be written together with the lock. */
  CompletionStage<@Nullable WholeQueue> wholeToWrite(VersionedText found, LockDocument lock) {
    return whole(found, lock)
        .thenCompose(
            whole ->
                whole == null || whole.rear().text() != null
                    ? completed(whole)
                    : create(lock, whole.rear())
                        .thenCompose(made -> whole(found, lock))
                        .thenApply(
                            again -> again == null || again.rear().text() == null ? null : again));
  }

  private CompletionStage<?> create(LockDocument lock, VersionedText absent) {
    LockDocument empty = new LockDocument(lock.name, lock.capacity);
    empty.touched = updater.micros();
    return updater.documents().compareAndSet(key(lock.name), absent, DocumentCodec.encode(empty));
  }

  /** A lock with all its waiters, as it was listed or has become since; empty if there is none. */
  CompletionStage<Optional<LockDocument>> toShow(LockName name, VersionedText found) {
    LockDocument lock = DocumentCodec.decode(name, found.text());
    if (lock == null || lock.split() == 0) {
      return completed(Optional.ofNullable(lock));
    }
    return whole(found, lock)
        .thenCompose(
            whole ->
                whole == null
                    ? CompletableFuture.supplyAsync(
                            () -> LockUpdater.key(name), updater.rules().afterPause(PAUSE_MILLIS))
                        .thenCompose(updater.documents()::read)
                        .thenCompose(now -> toShow(name, now))
                    : completed(Optional.of(whole.lock())));
  }

  /**
   * Moves the later waiters out of a lock's document, or lets all stay if they are few.
   *
   * @param rear is written over
   * @return the write of the rear
   */
  DocumentWrite split(LockDocument lock, VersionedText rear) {
    int most = updater.rules().mostInFront();
    long id = lock.waiters <= most / 2 ? 0 : DocumentUpdater.number(rear, Long.MAX_VALUE);
    LockDocument later = lock.splitOff(most, id);
    return new DocumentWrite(key(lock.name), rear, DocumentCodec.encode(later));
  }

  /**
   * The outcome of adding newcomers.
   *
   * @param ahead how many waiters stand ahead of each; null if they were not added
   * @param isTooLong whether the queue has to be written whole; otherwise its split has ended
   */
  record Addition(@Nullable Map<AttemptId, Integer> ahead, boolean isTooLong) {}

  /** Adds newcomers to the rear. */
  CompletionStage<Addition> add(LockName name, Newcomers newcomers) {
    return updater.updateRemembered(
        key(name),
        found -> added(name, newcomers, found),
        found -> completed(added(name, newcomers, found)));
  }

  private Update<Addition> added(LockName name, Newcomers newcomers, VersionedText found) {
    LockDocument rear = decode(name, found);
    boolean isOther = rear != null && rear.split() != newcomers.split();
    if (rear == null || (isOther && updater.rules().comparesSplits())) {
      return new Update<>(false, null, new Addition(null, false));
    }
    long before = rear.waiters;
    Map<AttemptId, Integer> ahead = new HashMap<>();
    for (Request.Acquire request : newcomers.requests()) {
      int inRear = rear.enqueue(request, updater.micros());
      ahead.put(request.attempt(), newcomers.inFront() + inRear);
    }
    if (rear.waiters == before) {
      return new Update<>(false, null, new Addition(ahead, false));
    }
    String text = DocumentCodec.encode(rear);
    return newcomers.textInFront() + text.length() > MOST_TEXT
        ? new Update<>(false, null, new Addition(null, true))
        : new Update<>(true, text, new Addition(ahead, false));
  }

  /**
   * Removes a rear that was not used for long and is no part of a split: its waiters are back in
   * the lock's document, or the lock was removed by hand.
   *
   * @return {@link DocumentSweeper#NOT_THERE} if there is none
   */
  CompletionStage<Integer> sweep(LockName name) {
    return updater.update(
        key(name),
        found -> {
          LockDocument rear = decode(name, found);
          if (rear == null) {
            return completed(new Update<>(false, null, DocumentSweeper.NOT_THERE));
          }
          long idleSince = rear.touched + LockRecord.micros(LockTable.RETENTION);
          if (idleSince > updater.micros()) {
            return completed(new Update<>(false, null, 0));
          }
          return updater
              .documents()
              .read(LockUpdater.key(name))
              .thenApply(
                  lock -> {
                    boolean unused = rear.split() == 0 || rear.split() != splitOf(name, lock);
                    return new Update<>(unused, null, unused ? 1 : 0);
                  });
        });
  }

  private static long splitOf(LockName name, VersionedText found) {
    LockDocument lock = DocumentCodec.decode(name, found.text());
    return lock == null ? 0 : lock.split();
  }

  private static <T extends @Nullable Object> CompletionStage<T> completed(T value) {
    return CompletableFuture.completedFuture(value);
  }
}
