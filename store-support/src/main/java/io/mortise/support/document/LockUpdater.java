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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes steps of locks on their documents, with all consequences. Thread-safe. */
record LockUpdater(SessionDocuments sessions, LongQueues queues) {
  static final String PREFIX = "lock/";

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
   * @param needsWhole selects replies about a lock's document as found that are valid only if that
   *     has the whole queue
   * @param newcomers receives those that are to wait in the rear of a long queue after the step
   */
  private record Step<T>(
      LockName name,
      KnownSessions known,
      TableStep<T> onTable,
      Predicate<T> mustWrite,
      int mostServed,
      boolean isOfSession,
      BiPredicate<LockDocument, T> needsWhole,
      AtomicReference<Newcomers> newcomers) {
    Step(LockName name, TableStep<T> onTable) {
      this(
          name,
          new KnownSessions(),
          onTable,
          reply -> false,
          LockTable.STEPS,
          false,
          (lock, reply) -> true,
          new AtomicReference<>(Newcomers.NONE));
    }

    /** The same step with half as many grants, for a document that has to grow less. */
    Step<T> servingHalf(int granted) {
      int fewer = Math.min(granted, mostServed) / 2;
      return new Step<>(name, known, onTable, mustWrite, fewer, isOfSession, needsWhole, newcomers);
    }
  }

  /**
   * A lock as a step finds it.
   *
   * @param lock null if there is none
   * @param rear null if the step is one of the lock's own document
   */
  private record FoundLock(
      VersionedText found, @Nullable LockDocument lock, @Nullable VersionedText rear) {}

  /** Takes a step outside any session: a step of an operator, or of a sweep. */
  <T> CompletionStage<T> step(LockName name, TableStep<T> onTable) {
    Step<T> step = new Step<>(name, onTable);
    return updater().update(key(name), found -> prepare(step, found)).thenCompose(this::finish);
  }

  /**
   * Removes a lock's dead holders, or its whole record if it was idle for long.
   *
   * @return {@link DocumentSweeper#NOT_THERE} if there is none
   */
  CompletionStage<Integer> sweep(LockName name) {
    StepResult<Integer> none =
        new StepResult<>(null, false, DocumentSweeper.NOT_THERE, List.of(), List.of());
    Step<Integer> step = new Step<>(name, (table, now) -> table.sweep(name, now));
    return updater()
        .update(
            key(name),
            found ->
                found.text() == null
                    ? CompletableFuture.completedFuture(new Update<>(false, null, none))
                    : prepare(step, found))
        .thenCompose(this::finish);
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
    return requests(name, open, known, false);
  }

  private CompletionStage<List<Reply>> requests(
      LockName name, Supplier<List<Request>> open, KnownSessions known, boolean whole) {
    TableStep<List<Reply>> onTable =
        (table, now) -> open.get().stream().map(request -> table.apply(request, now)).toList();
    // Another request of the ended attempt may be in flight.
    Predicate<List<Reply>> mustWrite =
        replies ->
            sessions.observer() != null
                && replies.stream().anyMatch(reply -> reply instanceof Reply.Ended);
    BiPredicate<LockDocument, List<Reply>> needsWhole =
        (lock, replies) ->
            whole
                || (updater().rules().endsInWholeQueue()
                    && replies.stream()
                        .anyMatch(
                            reply -> reply instanceof Reply.Ended && !lock.knows(reply.attempt())));
    AtomicReference<Newcomers> newcomers = new AtomicReference<>(Newcomers.NONE);
    Step<List<Reply>> step =
        new Step<>(name, known, onTable, mustWrite, LockTable.STEPS, true, needsWhole, newcomers);
    return updater()
        .updateRemembered(key(name), found -> first(step, found), found -> prepare(step, found))
        .thenCompose(this::finish)
        .thenCompose(
            replies -> addToRear(name, Objects.requireNonNull(newcomers.get()), replies, known));
  }

  /** Adds the newcomers of a step that was written. A failure is theirs alone. */
  private CompletionStage<List<Reply>> addToRear(
      LockName name, Newcomers newcomers, List<Reply> replies, KnownSessions known) {
    if (newcomers.requests().isEmpty()) {
      return CompletableFuture.completedFuture(replies);
    }
    List<Request> requests = List.copyOf(newcomers.requests());
    return CompletionStages.start(() -> queues.add(name, newcomers))
        .thenCompose(
            ahead ->
                ahead
                    .<CompletionStage<List<Reply>>>map(
                        places -> CompletableFuture.completedFuture(queued(replies, places)))
                    .orElseGet(() -> requests(name, () -> requests, known, true)))
        .exceptionally(
            failure ->
                requests.stream()
                    .<Reply>map(each -> failed(each, CompletionStages.cause(failure)))
                    .toList())
        .thenApply(
            ofNewcomers -> {
              Map<AttemptId, Reply> later = new HashMap<>();
              ofNewcomers.forEach(reply -> later.put(reply.attempt(), reply));
              return replies.stream()
                  .map(reply -> later.getOrDefault(reply.attempt(), reply))
                  .toList();
            });
  }

  /** The replies to newcomers, which stand behind more waiters than those of their step. */
  private static List<Reply> queued(List<Reply> replies, Map<AttemptId, Integer> ahead) {
    List<Reply> queued = new ArrayList<>();
    for (Reply each : replies) {
      Integer place = ahead.get(each.attempt());
      if (place != null && each instanceof Reply.Queued reply) {
        queued.add(new Reply.Queued(reply.attempt(), place, reply.holder(), reply.retryAfter()));
      }
    }
    return queued;
  }

  private static Reply failed(Request request, Throwable cause) {
    return new Reply.Failed(request.attempt(), true, cause);
  }

  /**
   * Looks at a lock that others want, while its holder still works: reads it, and the sessions that
   * its release will meet. The release then needs no read. What was read serves as long as a
   * session that is read now: until no renewal was observed for a TTL.
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
  private <T> @Nullable Update<StepResult<T>> first(Step<T> step, VersionedText found) {
    LockDocument document = decode(step, found);
    long now = now();
    StepResult<T> result = apply(step, document, found, now);
    while (step.known().isIncomplete()
        && sessions.addRemembered(step.known(), id -> mayRemember(step, document, id))) {
      result = apply(step, document, found, now);
    }
    if (step.known().isIncomplete() || needsWhole(step, document, result)) {
      return null;
    }
    Update<StepResult<T>> update = update(step, result, new FoundLock(found, document, null), now);
    return update.besides() == null && !notes(result, true).isEmpty() ? null : update;
  }

  /** Whether the step has to be taken with all waiters of a long queue. */
  private <T> boolean needsWhole(
      Step<T> step, @Nullable LockDocument document, StepResult<T> result) {
    LockDocument next = result.document();
    if (document == null || document.split() == 0) {
      return next != null && queues.isTooLong(next);
    }
    return queues.needsRear(document, next) || step.needsWhole().test(document, result.reply());
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
  private <T> CompletionStage<@Nullable Update<StepResult<T>>> prepare(
      Step<T> step, VersionedText found) {
    return prepare(step, new FoundLock(found, decode(step, found), null));
  }

  private <T> CompletionStage<@Nullable Update<StepResult<T>>> prepareWhole(
      Step<T> step, VersionedText found, LockDocument document) {
    return queues
        .wholeToWrite(found, document)
        .thenCompose(
            whole ->
                whole == null
                    ? CompletableFuture.completedFuture(null)
                    : prepare(step, new FoundLock(found, whole.lock(), whole.rear())));
  }

  private <T> CompletionStage<@Nullable Update<StepResult<T>>> prepare(
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
              if (lock.rear() == null && document != null && needsWhole(step, document, result)) {
                return prepareWhole(step, found, document);
              }
              List<SessionNotification> before = notes(result, true);
              Update<StepResult<T>> update = update(step, result, lock, now);
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
  private <T> Update<StepResult<T>> update(
      Step<T> step, StepResult<T> taken, FoundLock lock, long now) {
    StepResult<T> result = toWrite(step, taken, lock);
    LockDocument next = result.document();
    DocumentWrite rear =
        lock.rear() == null || next == null || !result.changed()
            ? null
            : queues.split(next, lock.rear());
    JoinedNotes joined =
        step.isOfSession() && result.changed() && next != null && lock.found().text() != null
            ? sessions.join(step.known(), result.notifications(), result.obsolete(), now)
            : null;
    return new Update<>(
        result.changed(),
        result.changed() && next != null ? DocumentCodec.encode(next) : null,
        joined == null
            ? result
            : new StepResult<>(next, true, result.reply(), joined.apart(), List.of()),
        smaller(step, result),
        JoinedWrites.of(rear, joined == null ? null : joined.writes()));
  }

  /** The result of a step with the document that it writes. */
  private <T> StepResult<T> toWrite(Step<T> step, StepResult<T> result, FoundLock lock) {
    LockDocument next = result.document();
    boolean changed = result.changed();
    step.newcomers().set(Newcomers.NONE);
    if (!changed && step.mustWrite().test(result.reply())) {
      // An earlier acquire that arrives later finds another version.
      next = next == null ? new LockDocument(step.name(), Mode.SHARERS) : next;
      changed = true;
    } else if (next == null && lock.rear() != null) {
      // The rear has to be closed first.
      next = Objects.requireNonNull(lock.lock()).joined(new LockDocument(step.name(), 1));
    } else if (next != null && next.split() != 0) {
      LockDocument before = Objects.requireNonNull(lock.lock());
      List<Request.Acquire> newcomers = next.removeNewcomers(before);
      int text = Objects.requireNonNull(lock.found().text()).length();
      step.newcomers().set(new Newcomers(next.split(), next.queued(), text, newcomers));
      changed &= !next.isLike(before);
    }
    return new StepResult<>(
        next, changed, result.reply(), result.obsolete(), result.notifications());
  }

  private <T> @Nullable SmallerStep<StepResult<T>> smaller(Step<T> step, StepResult<T> result) {
    int granted = granted(result);
    return granted == 0
        ? null
        : found -> prepare(step.servingHalf(granted), found).thenApply(LockUpdater::unlessFree);
  }

  /** Null if a free lock would stay free while its waiters are answered that it is busy. */
  private static <T> @Nullable Update<StepResult<T>> unlessFree(
      @Nullable Update<StepResult<T>> update) {
    if (update == null) {
      return null;
    }
    LockDocument lock = update.result().document();
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
