package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.SessionDocuments.ChangeKind;
import io.mortise.support.document.SessionDocuments.ChangeOutcome;
import io.mortise.support.document.SessionDocuments.KnownSessions;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.LockDocument;
import io.mortise.support.table.LockStep;
import io.mortise.support.table.LockStep.StepResult;
import io.mortise.support.table.LockTable;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes steps of locks on their documents, with all consequences. Thread-safe. */
record LockUpdater(SessionDocuments sessions) {
  static final String PREFIX = "lock/";

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
   */
  private record Step<T>(
      LockName name,
      KnownSessions known,
      TableStep<T> onTable,
      Predicate<T> mustWrite,
      int mostServed) {
    Step(LockName name, TableStep<T> onTable) {
      this(name, new KnownSessions(), onTable, reply -> false, LockTable.STEPS);
    }

    /** The same step with half as many grants, for a document that has to grow less. */
    Step<T> servingHalf(int granted) {
      return new Step<>(name, known, onTable, mustWrite, Math.min(granted, mostServed) / 2);
    }
  }

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
   * remembers, without a read, if the step depends on no session but the requester's and leaves no
   * notification. The write compares the version, so a stale document is read again.
   *
   * @param open supplies the requests, each time that the step is taken
   * @param known the known sessions: at first the requester's, while no process may end it. If it
   *     ends before the write, a contender finds a dead holder, as after a crash
   * @return the replies to the requests of the last try
   */
  CompletionStage<List<Reply>> requests(
      LockName name, Supplier<List<Request>> open, KnownSessions known) {
    TableStep<List<Reply>> onTable =
        (table, now) -> open.get().stream().map(request -> table.apply(request, now)).toList();
    // Another request of the ended attempt may be in flight.
    Predicate<List<Reply>> mustWrite =
        replies ->
            sessions.observer() != null
                && replies.stream().anyMatch(reply -> reply instanceof Reply.Ended);
    Step<List<Reply>> step = new Step<>(name, known, onTable, mustWrite, LockTable.STEPS);
    return updater()
        .updateRemembered(key(name), found -> first(step, found), found -> prepare(step, found))
        .thenCompose(this::finish);
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

  private static String key(LockName name) {
    return PREFIX + name.value();
  }

  private long now() {
    return updater().micros();
  }

  /** The effect of the step on a remembered document; null if that is unknown without a read. */
  private <T> @Nullable Update<StepResult<T>> first(Step<T> step, VersionedText found) {
    StepResult<T> result = apply(step, decode(step, found), found, now());
    return step.known().isIncomplete() || !notes(result, true).isEmpty()
        ? null
        : update(step, result);
  }

  /**
   * Computes the next document, and leaves the notes that precede it. After that the sessions are
   * read again: a renewal may have come before a note, and the next will deliver it.
   *
   * @return null if a note was given up, so that the lock is to be read again
   */
  private <T> CompletionStage<@Nullable Update<StepResult<T>>> prepare(
      Step<T> step, VersionedText found) {
    LockDocument document = decode(step, found);
    long now = now();
    step.known().forgetOverdue(now);
    return sessions
        .withSessions(sessions::judge, step.known(), unused -> apply(step, document, found, now))
        .thenCompose(
            result -> {
              List<SessionNotification> before = notes(result, true);
              if (step.known().hasLeft(before)) {
                return CompletableFuture.completedFuture(update(step, result));
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
                        return prepare(step, found);
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

  private <T> Update<StepResult<T>> update(Step<T> step, StepResult<T> result) {
    LockDocument next = result.document();
    int granted = granted(result);
    boolean changed = result.changed();
    if (!changed && step.mustWrite().test(result.reply())) {
      // An earlier acquire that arrives later finds another version.
      next = next == null ? new LockDocument(step.name(), Mode.SHARERS) : next;
      changed = true;
    }
    return new Update<>(
        changed,
        changed && next != null ? DocumentCodec.encode(next) : null,
        result,
        granted == 0
            ? null
            : found ->
                prepare(step.servingHalf(granted), found).thenApply(LockUpdater::unlessFree));
  }

  /** Null if a free lock would stay free while its waiters are answered that it is busy. */
  private static <T> @Nullable Update<StepResult<T>> unlessFree(
      @Nullable Update<StepResult<T>> update) {
    if (update == null) {
      return null;
    }
    LockDocument lock = update.result().document();
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
