package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.document.DocumentUpdater.JoinedWrites;
import io.mortise.support.document.DocumentUpdater.SmallerStep;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.LongQueues.Newcomers;
import io.mortise.support.document.SessionDocuments.ChangeKind;
import io.mortise.support.document.SessionDocuments.ChangeOutcome;
import io.mortise.support.document.SessionDocuments.JoinedNotes;
import io.mortise.support.document.SessionDocuments.KnownSessions;
import io.mortise.support.document.SessionDocuments.SessionReader;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.LockDocument;
import io.mortise.support.table.LockStep;
import io.mortise.support.table.LockStep.StepResult;
import io.mortise.support.table.LockTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Takes steps of locks on their documents, with all consequences. Thread-safe. */
record LockUpdater(SessionDocuments sessions, LongQueues queues) {
  static final String PREFIX = "lock/";

  /** Tries to add newcomers to the rear of a queue, before they are added to the whole queue. */
  private static final int TRIES_AT_REAR = 3;

  /** Between two looks, where a waiter queues after it has left its note. */
  private static final int PAUSE_MILLIS = 4;

  LockUpdater(SessionDocuments sessions) {
    this(
        sessions,
        new LongQueues(
            sessions.updater(),
            sessions.observer() != null && sessions.updater().documents().writesTogether()));
  }

  /** One call of the lock table. */
  interface TableStep<T> {
    T take(LockTable<LockDocument, RuntimeException> table, long now);
  }

  /**
   * A step of one lock.
   *
   * @param mustWrite selects replies after which the document is written even if the step has not
   *     changed it
   * @param mostServed the most waiters that may be granted the lock
   * @param isOfSession whether it takes requests of a session: those rely on sessions that this
   *     process remembers as alive, and leave notes together with the lock. An eviction does not
   * @param needsRear whether a step on a split lock, taken without the rear, is repeated with it;
   *     receives the lock as it was found, and the reply
   */
  private record Step<T>(
      LockName name,
      KnownSessions known,
      TableStep<T> onTable,
      Predicate<T> mustWrite,
      int mostServed,
      boolean isOfSession,
      BiPredicate<LockDocument, T> needsRear) {
    Step(LockName name, TableStep<T> onTable) {
      this(
          name,
          new KnownSessions(),
          onTable,
          reply -> false,
          LockTable.STEPS,
          false,
          (lock, reply) -> true);
    }

    /** The same step with half as many grants, for a document that has to grow less. */
    Step<T> servingHalf(int granted) {
      int fewer = Math.min(granted, mostServed) / 2;
      return new Step<>(name, known, onTable, mustWrite, fewer, isOfSession, needsRear);
    }
  }

  /** A step's result, with the newcomers that are to wait in the rear after it. */
  private record TakenStep<T>(StepResult<T> result, Newcomers newcomers) {}

  /**
   * A lock as a step finds it.
   *
   * @param lock null if there is none
   * @param rear the rear that the lock was joined with; null if it was not
   */
  private record FoundLock(
      VersionedText found, @Nullable LockDocument lock, @Nullable VersionedText rear) {}

  /** Takes a step outside any session: a step of an operator, or of a sweep. */
  <T> CompletionStage<T> step(LockName name, TableStep<T> onTable) {
    Step<T> step = new Step<>(name, onTable);
    return updater()
        .update(key(name), found -> prepare(step, found))
        .thenCompose(taken -> finish(taken.result()));
  }

  /**
   * Removes a lock's dead holders, or its whole record if it was idle for long.
   *
   * @return {@link DocumentSweeper#NOT_THERE} if there is none
   */
  CompletionStage<Integer> sweep(LockName name) {
    TakenStep<Integer> none =
        new TakenStep<>(
            new StepResult<>(null, false, DocumentSweeper.NOT_THERE, List.of(), List.of()),
            Newcomers.NONE);
    Step<Integer> step = new Step<>(name, (table, now) -> table.sweep(name, now));
    return updater()
        .update(
            key(name),
            found ->
                found.text() == null
                    ? CompletableFuture.completedFuture(new Update<>(false, null, none))
                    : prepare(step, found))
        .thenCompose(taken -> finish(taken.result()));
  }

  /**
   * Takes one step with the requests of a session. It starts from the document that this process
   * remembers, without a read, if the step depends only on sessions that it remembers as alive, and
   * leaves no notification before the lock is written. The write compares the version, so a stale
   * document is read again.
   *
   * @param open supplies the requests, each time that the step is taken
   * @param known the known sessions: at first the requester's, while no process may end it. If it
   *     ends before the write, a contender finds a dead holder, as after a crash
   * @return the replies to the requests of the last try
   */
  CompletionStage<List<Reply>> requests(
      LockName name, Supplier<List<Request>> open, KnownSessions known) {
    return requests(name, open, known, 0);
  }

  private CompletionStage<List<Reply>> requests(
      LockName name, Supplier<List<Request>> open, KnownSessions known, int triedAtRear) {
    TableStep<List<Reply>> onTable =
        (table, now) -> open.get().stream().map(request -> table.apply(request, now)).toList();
    // Another request of the ended attempt may be in flight.
    Predicate<List<Reply>> mustWrite =
        replies ->
            sessions.observer() != null
                && replies.stream().anyMatch(reply -> reply instanceof Reply.Ended);
    BiPredicate<LockDocument, List<Reply>> needsRear =
        (lock, replies) ->
            triedAtRear == TRIES_AT_REAR
                || (updater().rules().endsInWholeQueue()
                    && replies.stream().anyMatch(reply -> isOfRear(lock, reply)));
    Step<List<Reply>> step =
        new Step<>(name, known, onTable, mustWrite, LockTable.STEPS, true, needsRear);
    return updater()
        .updateRemembered(key(name), found -> first(step, found), found -> prepare(step, found))
        .thenCompose(
            taken ->
                finish(taken.result())
                    .thenCompose(
                        replies ->
                            addToRear(name, taken.newcomers(), replies, known, triedAtRear)));
  }

  /** Whether the reply is another one if the attempt waits in the rear. */
  private static boolean isOfRear(LockDocument lock, Reply reply) {
    return (reply instanceof Reply.Ended || reply instanceof Reply.Busy)
        && !lock.knows(reply.attempt());
  }

  /** Adds the newcomers of a step to the rear. If that fails, the other replies stand. */
  private CompletionStage<List<Reply>> addToRear(
      LockName name,
      Newcomers newcomers,
      List<Reply> replies,
      KnownSessions known,
      int triedAtRear) {
    if (newcomers.requests().isEmpty()) {
      return CompletableFuture.completedFuture(replies);
    }
    List<Request> requests = List.copyOf(newcomers.requests());
    return CompletionStages.start(() -> queues.add(name, newcomers))
        .thenCompose(
            addition -> {
              Map<AttemptId, Integer> ahead = addition.ahead();
              if (ahead != null) {
                return CompletableFuture.completedFuture(queued(replies, ahead));
              }
              return addition.isTooLong() || triedAtRear + 1 == TRIES_AT_REAR
                  ? addToWhole(name, requests, known)
                  : requests(name, () -> requests, known, triedAtRear + 1);
            })
        .exceptionally(failure -> failed(requests, failure))
        .thenApply(
            ofNewcomers -> {
              Map<AttemptId, Reply> later = new HashMap<>();
              ofNewcomers.forEach(reply -> later.put(reply.attempt(), reply));
              return replies.stream()
                  .map(reply -> later.getOrDefault(reply.attempt(), reply))
                  .toList();
            });
  }

  /** Adds newcomers to the whole queue; in halves, while the server refuses so long a queue. */
  private CompletionStage<List<Reply>> addToWhole(
      LockName name, List<Request> requests, KnownSessions known) {
    return requests(name, () -> requests, known, TRIES_AT_REAR)
        .<CompletionStage<List<Reply>>>handle(
            (replies, failure) -> {
              if (failure == null) {
                return CompletableFuture.completedFuture(replies);
              } else if (requests.size() == 1 || !DocumentUpdater.isTooLarge(failure)) {
                return CompletableFuture.completedFuture(failed(requests, failure));
              }
              int half = requests.size() / 2;
              return addToWhole(name, requests.subList(0, half), known)
                  .thenCompose(
                      first ->
                          addToWhole(name, requests.subList(half, requests.size()), known)
                              .thenApply(
                                  second ->
                                      Stream.concat(first.stream(), second.stream()).toList()));
            })
        .thenCompose(Function.identity());
  }

  /** The replies to newcomers, with their places in the whole queue. */
  private static List<Reply> queued(List<Reply> replies, Map<AttemptId, Integer> ahead) {
    List<Reply> queued = new ArrayList<>();
    for (Reply each : replies) {
      Integer place = ahead.get(each.attempt());
      if (place != null && each instanceof Reply.Queued reply) {
        // Polls are a millisecond apart for each place.
        Duration retryAfter = reply.retryAfter().plusMillis(Math.max(0, place - reply.ahead()));
        queued.add(new Reply.Queued(reply.attempt(), place, reply.holder(), retryAfter));
      }
    }
    return queued;
  }

  private static List<Reply> failed(List<Request> requests, Throwable failure) {
    Throwable cause = CompletionStages.cause(failure);
    return requests.stream()
        .<Reply>map(request -> new Reply.Failed(request.attempt(), true, cause))
        .toList();
  }

  /**
   * Looks at a lock that others want, while its holder still works: reads it, and the sessions that
   * its release will meet. The release then needs no read, unless few waiters of a long queue are
   * in front. What was read serves as long as a session that is read now: until no renewal was
   * observed for a TTL.
   *
   * @param looks how often to look while no waiter has queued yet
   */
  CompletionStage<Void> look(LockName name, AttemptId hold, int looks) {
    updater().forget(key(name));
    return updater()
        .documents()
        .read(key(name))
        .thenCompose(
            found -> {
              LockDocument lock = DocumentCodec.decode(name, found.text());
              if (lock == null || !lock.isHeldBy(hold)) {
                return CompletableFuture.completedFuture(null);
              }
              if (lock.waiters == 0) {
                // It has left its note and is about to queue: a write from memory would fail.
                lookAgain(name, hold, looks - 1);
                return CompletableFuture.completedFuture(null);
              }
              updater().memory().putHeld(key(name), found);
              Step<Reply> release =
                  new Step<>(
                      name, (table, now) -> table.apply(new Request.Abandon(name, hold), now));
              return sessions
                  .withSessions(
                      sessions::readToRemember,
                      release.known(),
                      unused -> apply(release, lock, found, now()))
                  .thenAccept(unused -> {});
            });
  }

  private void lookAgain(LockName name, AttemptId hold, int looks) {
    if (looks > 0) {
      var unused =
          CompletableFuture.supplyAsync(() -> looks, updater().rules().afterPause(PAUSE_MILLIS))
              .thenCompose(left -> look(name, hold, left));
    }
  }

  /** Another process is about to write the lock. */
  void outdated(LockName name) {
    updater().forget(key(name));
  }

  private DocumentUpdater updater() {
    return sessions.updater();
  }

  /** The lock that a key names; empty if another program has created the key. */
  static Optional<LockName> name(String key) {
    try {
      return Optional.of(LockName.of(key.substring(PREFIX.length())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  static String key(LockName name) {
    return PREFIX + name.value();
  }

  private long now() {
    return updater().micros();
  }

  /** The effect of the step on a remembered document; null if that is unknown without a read. */
  private <T> @Nullable Update<TakenStep<T>> first(Step<T> step, VersionedText found) {
    LockDocument document = decode(step, found);
    long now = now();
    StepResult<T> result = apply(step, document, found, now);
    while (step.known().isIncomplete()
        && sessions.addRemembered(step.known(), id -> mayRemember(step, document, id))) {
      result = apply(step, document, found, now);
    }
    if (step.known().isIncomplete() || needsRear(step, document, result)) {
      return null;
    }
    Update<TakenStep<T>> update = update(step, result, new FoundLock(found, document, null), now);
    return update.besides() == null && !notes(result, true).isEmpty() ? null : update;
  }

  /** Whether the step has to be taken with all waiters of a long queue. */
  private <T> boolean needsRear(
      Step<T> step, @Nullable LockDocument document, StepResult<T> result) {
    LockDocument next = result.document();
    if (document == null || document.split() == 0) {
      return next != null && queues.isTooLong(next);
    }
    return queues.needsRear(document, next, result.changed())
        || step.needsRear().test(document, result.reply());
  }

  /**
   * Whether a session from memory will do, if it was alive then. A waiter may be judged alive too
   * long. A holder's session is written now, over its version; but one that is not, since it was
   * told before, may have been closed: then its lock is free.
   */
  private static boolean mayRemember(Step<?> step, @Nullable LockDocument document, SessionId id) {
    return step.isOfSession() && (document == null || !document.isToldHolder(id));
  }

  /**
   * Computes the next document, and leaves the notes that precede it. After that the sessions are
   * read again: a renewal may have come before a note, and the next will deliver it.
   *
   * @return null if a note was given up, so that the lock is to be read again
   */
  private <T> CompletionStage<@Nullable Update<TakenStep<T>>> prepare(
      Step<T> step, VersionedText found) {
    return prepare(step, new FoundLock(found, decode(step, found), null));
  }

  private <T> CompletionStage<@Nullable Update<TakenStep<T>>> prepareWithRear(
      Step<T> step, VersionedText found, LockDocument document) {
    return queues
        .wholeToWrite(found, document)
        .thenCompose(
            whole ->
                whole == null
                    ? CompletableFuture.completedFuture(null)
                    : prepare(step, new FoundLock(found, whole.lock(), whole.rear())));
  }

  private <T> CompletionStage<@Nullable Update<TakenStep<T>>> prepare(
      Step<T> step, FoundLock lock) {
    VersionedText found = lock.found();
    LockDocument document = lock.lock();
    long now = now();
    if (step.isOfSession()) {
      step.known().forgetAlive();
    } else {
      step.known().forgetOverdue(now);
    }
    SessionReader reader =
        id -> mayRemember(step, document, id) ? sessions.judgeUnlessAlive(id) : sessions.judge(id);
    return sessions
        .withSessions(reader, step.known(), unused -> apply(step, document, found, now))
        .thenCompose(
            result -> {
              if (lock.rear() == null && document != null && needsRear(step, document, result)) {
                return prepareWithRear(step, found, document);
              }
              List<SessionNotification> before = notes(result, true);
              Update<TakenStep<T>> update = update(step, result, lock, now);
              if (step.known().hasLeft(before) || leavesNotes(update)) {
                return CompletableFuture.completedFuture(update);
              }
              return sessions
                  .updateNotes(ChangeKind.NOTES_BEFORE_LOCK, before, List.of(), now)
                  .thenCompose(
                      outcome -> {
                        if (outcome == ChangeOutcome.OUTDATED) {
                          step.known().forgetAll();
                          return CompletableFuture.completedFuture(null);
                        }
                        step.known().addLeft(before);
                        return prepare(step, lock);
                      });
            });
  }

  private @Nullable LockDocument decode(Step<?> step, VersionedText found) {
    return DocumentCodec.decode(step.name(), found.text());
  }

  private <T> StepResult<T> apply(
      Step<T> step, @Nullable LockDocument document, VersionedText found, long now) {
    observeEvictions(document, step.known(), now);
    observeAtLeast(document, now);
    return LockStep.apply(
        document,
        revision(found),
        step.mostServed(),
        step.known(),
        table -> step.onTable().take(table, now));
  }

  /** The revision, from which a clockless store derives fencing tokens. */
  private long revision(VersionedText found) {
    return sessions.observer() == null
        ? LockStep.BY_CLOCK
        : DocumentUpdater.number(found, LockStep.HIGHEST_REVISION);
  }

  /** Records the holds that an operator has closed. */
  void observeEvictions(@Nullable LockDocument lock, KnownSessions known, long now) {
    ClocklessExpiry observer = sessions.observer();
    if (lock != null && observer != null) {
      lock.observeEvictions(hold -> observer.shutFor(hold, known.ttl(hold.session())), now);
    }
  }

  /** Records the at-least times of a document that was read, or written, just now. */
  void observeAtLeast(@Nullable LockDocument lock, long now) {
    ClocklessExpiry observer = sessions.observer();
    if (lock != null && observer != null && updater().rules().countsFromFirstSight()) {
      lock.observeAtLeast(observer::atLeastLeft, now);
    }
  }

  /** Whether the update's write takes its notes along. */
  private static boolean leavesNotes(Update<?> update) {
    JoinedWrites besides = update.besides();
    return besides != null && besides.takesNotes();
  }

  /** The write of a step, together with its notes if that is possible. */
  private <T> Update<TakenStep<T>> update(
      Step<T> step, StepResult<T> taken, FoundLock lock, long now) {
    TakenStep<T> toWrite = toWrite(step, taken, lock);
    StepResult<T> result = toWrite.result();
    LockDocument next = result.document();
    List<DocumentWrite> parts =
        lock.rear() == null || next == null || !result.changed()
            ? List.of()
            : List.of(queues.split(next, lock.rear()));
    JoinedNotes joined =
        step.isOfSession() && result.changed() && next != null && lock.found().text() != null
            ? sessions.join(step.known(), result.notifications(), result.obsolete(), now)
            : null;
    JoinedWrites besides = parts.isEmpty() ? null : new JoinedWrites(parts, List.of(), done -> {});
    if (joined != null) {
      result = new StepResult<>(next, true, result.reply(), joined.apart(), List.of());
      besides = new JoinedWrites(parts, joined.writes().notes(), joined.writes().ended());
    }
    return new Update<>(
        result.changed(),
        result.changed() && next != null ? DocumentCodec.encode(next) : null,
        new TakenStep<>(result, toWrite.newcomers()),
        smaller(step, toWrite.result()),
        besides);
  }

  /** The result of a step with the document that it writes. */
  private static <T> TakenStep<T> toWrite(Step<T> step, StepResult<T> result, FoundLock lock) {
    LockDocument next = result.document();
    boolean changed = result.changed();
    Newcomers newcomers = Newcomers.NONE;
    boolean mustWrite = !changed && step.mustWrite().test(result.reply());
    if (mustWrite || (next == null && lock.rear() != null)) {
      // An earlier acquire that arrives later finds another version. A rear is left before its lock
      // is removed.
      next = next == null ? new LockDocument(step.name(), Mode.SHARERS) : next;
      changed = true;
    } else if (next != null && next.split() != 0) {
      LockDocument before = Objects.requireNonNull(lock.lock());
      List<Request.Acquire> added = next.removeNewcomers(before);
      int text = Objects.requireNonNull(lock.found().text()).length();
      newcomers = new Newcomers(next.split(), (int) next.waiters, text, added);
      changed &= added.isEmpty() || before.dirty || !next.isLike(before);
    }
    return new TakenStep<>(
        new StepResult<>(next, changed, result.reply(), result.obsolete(), result.notifications()),
        newcomers);
  }

  private <T> @Nullable SmallerStep<TakenStep<T>> smaller(Step<T> step, StepResult<T> result) {
    int granted = granted(result);
    return granted == 0
        ? null
        : found -> prepare(step.servingHalf(granted), found).thenApply(LockUpdater::unlessFree);
  }

  /** Null if a free lock would stay free while its waiters are answered that it is busy. */
  private static <T> @Nullable Update<TakenStep<T>> unlessFree(
      @Nullable Update<TakenStep<T>> update) {
    if (update == null) {
      return null;
    }
    LockDocument lock = update.result().result().document();
    // A change may have notes besides, whose end must be told: it is always written.
    return update.changed() || (lock != null && lock.used > 0) ? update : null;
  }

  /** The number of waiters that were granted the lock. Each takes more room than before. */
  private static int granted(StepResult<?> result) {
    return (int)
        result.notifications().stream()
            .filter(note -> note instanceof SessionNotification.HoldGranted)
            .count();
  }

  /** Removes and leaves the notes that follow the document. Polls make up for failed ones. */
  private <T> CompletionStage<T> finish(StepResult<T> result) {
    // A time that this step started counts from here, not from the release.
    observeAtLeast(result.document(), now());
    if (result.notifications().isEmpty() && result.obsolete().isEmpty()) {
      return CompletableFuture.completedFuture(result.reply());
    }
    return sessions
        .updateNotes(ChangeKind.NOTES_AFTER_LOCK, notes(result, false), result.obsolete(), now())
        .handle((done, failure) -> result.reply());
  }

  private static List<SessionNotification> notes(StepResult<?> result, boolean before) {
    if (result.notifications().isEmpty()) {
      return List.of();
    }
    return result.notifications().stream().filter(note -> comesBefore(note) == before).toList();
  }

  private static boolean comesBefore(SessionNotification note) {
    return note instanceof SessionNotification.Contended
        || (note instanceof SessionNotification.HoldEnded ended
            && ended.how() == EndReason.EVICTED);
  }
}
