package io.mortise.support.document;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Changes a document by compare-and-set: reads it, takes a step, writes it. Repeats that if another
 * process has written meanwhile.
 *
 * <p><b>Without a read.</b> A document that this process wrote last is likely to be unchanged. Its
 * step is taken from memory, and only the write is sent. The write compares the version, so a step
 * from a stale text changes nothing, and is repeated. A step that would write nothing is never
 * taken from memory: no comparison would have been made.
 *
 * <p><b>Conflicts.</b> Each means that another process made progress, so the system makes progress.
 * From the third conflict of a step on, the process waits for a random time before it reads again,
 * so that many contenders do not fail each other's writes for long. A renewal never pauses: the
 * others back off.
 *
 * <p><b>Too large.</b> If the server reports a document as too large, the document is read, and the
 * step is repeated in a smaller form, if it has one.
 *
 * <p>Thread-safe.
 */
final class DocumentUpdater {
  /**
   * Each failed try means that another process made progress. That many in a row do not occur
   * unless the server compares wrongly: an error is better than an endless loop.
   */
  static final int TRIES = 100;

  /** Conflicts of a step that are usually retried at once: most are with one other process. */
  private static final int RETRIED_AT_ONCE = 2;

  private static final int LONGEST_PAUSE_MILLIS = 32;

  private final VersionedDocuments documents;
  private final LongSupplier micros;
  private final DocumentRules rules;
  private final int retriedAtOnce;
  private final RememberedDocuments remembered;

  DocumentUpdater(VersionedDocuments documents, LongSupplier micros, DocumentRules rules) {
    this(documents, micros, rules, RETRIED_AT_ONCE, new RememberedDocuments());
  }

  private DocumentUpdater(
      VersionedDocuments documents,
      LongSupplier micros,
      DocumentRules rules,
      int retriedAtOnce,
      RememberedDocuments remembered) {
    this.documents = documents;
    this.micros = micros;
    this.rules = rules;
    this.retriedAtOnce = retriedAtOnce;
    this.remembered = remembered;
  }

  /**
   * An updater with the same memory, whose steps never pause.
   *
   * @param over the same documents, on another connection
   */
  DocumentUpdater forRenewals(VersionedDocuments over) {
    return new DocumentUpdater(over, micros, rules, TRIES, remembered);
  }

  /**
   * The effect of a step on a document.
   *
   * @param changed whether the document is to be written
   * @param text the new document; null for none
   * @param smaller the step in a form that makes the document shorter; null if there is none
   * @param besides documents that are written together with this one; null if there are none
   */
  record Update<T>(
      boolean changed,
      @Nullable String text,
      T result,
      @Nullable SmallerStep<T> smaller,
      @Nullable JoinedWrites besides) {
    Update(boolean changed, @Nullable String text, T result) {
      this(changed, text, result, null, null);
    }
  }

  /**
   * Writes of further documents, all of which are made together with that of the step, or none.
   *
   * @param parts the writes of further documents of the same change, which cannot be left apart
   * @param notes the writes of sessions, which the step may leave apart
   * @param ended receives the outcomes of the notes, once; null if those are not known
   */
  record JoinedWrites(
      List<DocumentWrite> parts,
      List<DocumentWrite> notes,
      Consumer<@Nullable List<Written>> ended) {
    /** Whether the step's notes are among the writes. */
    boolean takesNotes() {
      return !notes.isEmpty();
    }
  }

  /** A step in a form that makes the document shorter. */
  interface SmallerStep<T> {
    /** The effect on the document as it is now; null if the step cannot be taken in this form. */
    CompletionStage<@Nullable Update<T>> take(VersionedText found);
  }

  VersionedDocuments documents() {
    return documents;
  }

  /** The store's time. */
  long micros() {
    return micros.getAsLong();
  }

  DocumentRules rules() {
    return rules;
  }

  /**
   * A change of one document.
   *
   * @param remembers whether this process is likely to be the next that writes the document
   */
  private record DocumentChange<T>(
      String key,
      boolean remembers,
      Function<VersionedText, CompletionStage<@Nullable Update<T>>> step) {}

  /** Reads a document that is likely to be changed next. */
  CompletionStage<VersionedText> readToChange(String key) {
    return documents
        .read(key)
        .thenApply(
            found -> {
              remember(key, found);
              return found;
            });
  }

  /**
   * Takes a step with the document as it is, several times if needed.
   *
   * @param step may return null to have the document read again, as after a failed comparison
   */
  <T> CompletionStage<T> update(
      String key, Function<VersionedText, CompletionStage<@Nullable Update<T>>> step) {
    return read(new DocumentChange<>(key, false, step), 0);
  }

  /**
   * Takes a step, first with the document as this process wrote or read it last.
   *
   * @param first the same step, if it needs nothing but the document; else null
   * @param step as in {@link #update}
   */
  <T> CompletionStage<T> updateRemembered(
      String key,
      Function<VersionedText, @Nullable Update<T>> first,
      Function<VersionedText, CompletionStage<@Nullable Update<T>>> step) {
    DocumentChange<T> change = new DocumentChange<>(key, true, step);
    VersionedText found = remembered(key);
    Update<T> update = found == null ? null : first.apply(found);
    if (found == null || update == null) {
      return read(change, 0);
    } else if (!update.changed()) {
      return rules.readsWhereNothingIsWritten()
          ? read(change, 0)
          : CompletableFuture.completedFuture(update.result());
    }
    return write(change, found, update, 0);
  }

  private <T> CompletionStage<T> read(DocumentChange<T> change, int conflicts) {
    return documents.read(change.key()).thenCompose(found -> take(change, found, conflicts));
  }

  private <T> CompletionStage<T> take(
      DocumentChange<T> change, VersionedText found, int conflicts) {
    return change
        .step()
        .apply(found)
        .thenCompose(
            update ->
                update == null
                    ? again(change, null, conflicts + 1)
                    : writeIfChanged(change, found, update, conflicts));
  }

  private <T> CompletionStage<T> writeIfChanged(
      DocumentChange<T> change, VersionedText found, Update<T> update, int conflicts) {
    return update.changed()
        ? write(change, found, update, conflicts)
        : CompletableFuture.completedFuture(update.result());
  }

  private <T> CompletionStage<T> write(
      DocumentChange<T> change, VersionedText found, Update<T> update, int conflicts) {
    JoinedWrites besides = update.besides();
    if (besides != null) {
      return writeTogether(change, found, update, besides, conflicts);
    }
    CompletionStage<Written> write = documents.compareAndSet(change.key(), found, update.text());
    SmallerStep<T> smaller = update.smaller();
    if (smaller == null) {
      return write.thenCompose(written -> written(change, update, written, conflicts));
    }
    return write
        .handle(
            (written, failure) ->
                failure == null
                    ? written(change, update, written, conflicts)
                    : failed(change, smaller, failure, conflicts))
        .thenCompose(Function.identity());
  }

  private <T> CompletionStage<T> writeTogether(
      DocumentChange<T> change,
      VersionedText found,
      Update<T> update,
      JoinedWrites besides,
      int conflicts) {
    List<DocumentWrite> writes = new ArrayList<>();
    writes.add(new DocumentWrite(change.key(), found, Objects.requireNonNull(update.text())));
    writes.addAll(besides.parts());
    int before = writes.size();
    writes.addAll(besides.notes());
    return CompletionStages.start(() -> documents.compareAndSetAll(writes))
        .handle(
            (written, failure) -> {
              for (int i = 1; i < writes.size(); i++) {
                remember(writes.get(i).key(), written == null ? null : written.get(i).stands());
              }
              besides
                  .ended()
                  .accept(written == null ? null : written.subList(before, writes.size()));
              if (written != null) {
                return written(change, update, written.get(0), conflicts);
              } else if (besides.takesNotes() && isTooLarge(failure)) {
                // The step is taken again, and later without the notes.
                return again(change, null, conflicts + 1);
              }
              SmallerStep<T> smaller = update.smaller();
              return smaller == null
                  ? CompletableFuture.<T>failedFuture(CompletionStages.cause(failure))
                  : failed(change, smaller, failure, conflicts);
            })
        .thenCompose(Function.identity());
  }

  private <T> CompletionStage<T> failed(
      DocumentChange<T> change, SmallerStep<T> smaller, Throwable failure, int conflicts) {
    if (!isTooLarge(failure)) {
      return CompletableFuture.failedFuture(failure);
    }
    return documents
        .read(change.key())
        .thenCompose(
            found ->
                smaller
                    .take(found)
                    .thenCompose(
                        update ->
                            update == null
                                ? CompletableFuture.failedFuture(failure)
                                : writeIfChanged(change, found, update, conflicts)));
  }

  private <T> CompletionStage<T> written(
      DocumentChange<T> change, Update<T> update, Written written, int conflicts) {
    remember(change.key(), written.made() && change.remembers() ? written.stands() : null);
    return written.made()
        ? CompletableFuture.completedFuture(update.result())
        : again(change, written.stands(), conflicts + 1);
  }

  /**
   * The version of a document in a clockless store.
   *
   * @throws StoreUnfitException if it is not a number from 0 to the highest
   */
  static long number(VersionedText found, long highest) {
    String version = found.version();
    // Without a regular expression, since each step of a lock passes here.
    boolean isNumber =
        !version.isEmpty()
            && version.length() <= 18
            && version.chars().allMatch(digit -> digit >= '0' && digit <= '9');
    if (isNumber && Long.parseLong(version) <= highest) {
      return Long.parseLong(version);
    }
    throw new StoreUnfitException(
        "The store has a document of version '%s', and versions are numbers up to %s. Another server may have answered: check host and port."
            .formatted(FailureText.quoted(version), highest));
  }

  /** Whether the server has refused a document for its size. */
  static boolean isTooLarge(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .anyMatch(cause -> cause instanceof DocumentTooLargeException);
  }

  /**
   * Repeats the step.
   *
   * @param stands the present document; null if the server did not report it
   */
  private <T> CompletionStage<T> again(
      DocumentChange<T> change, @Nullable VersionedText stands, int conflicts) {
    if (conflicts == TRIES) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException(
              "Document '%s' had changed %s times in a row between its read and its write. Nothing was written. Look for another program that writes it."
                  .formatted(change.key(), TRIES)));
    } else if (conflicts > retriedAtOnce) {
      int longest = Math.min(LONGEST_PAUSE_MILLIS, 1 << Math.min(conflicts - retriedAtOnce, 10));
      return CompletableFuture.supplyAsync(() -> conflicts, rules.afterPause(longest))
          .thenCompose(unused -> read(change, conflicts));
    }
    return stands == null ? read(change, conflicts) : take(change, stands, conflicts);
  }

  /** A document as this process knows it; null if it does not. */
  @Nullable VersionedText remembered(String key) {
    return remembered.get(key);
  }

  /** Forgets a document that another process is known to write. */
  void forget(String key) {
    remember(key, null);
  }

  void remember(String key, @Nullable VersionedText stands) {
    remembered.put(key, stands);
  }

  RememberedDocuments memory() {
    return remembered;
  }
}
