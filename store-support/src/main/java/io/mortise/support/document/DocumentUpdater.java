package io.mortise.support.document;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
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
 * <p>Thread-safe. Remembers the 10,000 most recently used documents.
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

  private static final int MOST_REMEMBERED = 10_000;

  /**
   * A longer text of a lock has a queue, which other processes write. A session with many notes
   * gets more of them from the same process.
   */
  private static final int LONGEST_REMEMBERED = 4_096;

  private final VersionedDocuments documents;
  private final LongSupplier micros;
  private final DocumentRules rules;
  private final int retriedAtOnce;
  private final ReentrantLock guard = new ReentrantLock();

  /** The documents as this process wrote or read them. Guarded by the lock. */
  private final Map<String, VersionedText> remembered =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, VersionedText> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  DocumentUpdater(VersionedDocuments documents, LongSupplier micros, DocumentRules rules) {
    this(documents, micros, rules, RETRIED_AT_ONCE);
  }

  /**
   * An updater that remembers nothing yet.
   *
   * @param retriedAtOnce conflicts of a step before it pauses; {@link #TRIES} for a step that never
   *     pauses
   */
  DocumentUpdater(
      VersionedDocuments documents, LongSupplier micros, DocumentRules rules, int retriedAtOnce) {
    this.documents = documents;
    this.micros = micros;
    this.rules = rules;
    this.retriedAtOnce = retriedAtOnce;
  }

  /**
   * The effect of a step on a document.
   *
   * @param changed whether the document is to be written
   * @param text the new document; null for none
   * @param smaller the step in a form that makes the document shorter; null if there is none
   */
  record Update<T>(
      boolean changed, @Nullable String text, T result, @Nullable SmallerStep<T> smaller) {
    Update(boolean changed, @Nullable String text, T result) {
      this(changed, text, result, null);
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

  private @Nullable VersionedText remembered(String key) {
    guard.lock();
    try {
      return remembered.get(key);
    } finally {
      guard.unlock();
    }
  }

  /** Forgets a document that another process is known to write. */
  void forget(String key) {
    remember(key, null);
  }

  void remember(String key, @Nullable VersionedText stands) {
    guard.lock();
    try {
      if (stands == null || isLong(key, stands.text())) {
        remembered.remove(key);
      } else {
        remembered.put(key, stands);
      }
    } finally {
      guard.unlock();
    }
  }

  private static boolean isLong(String key, @Nullable String text) {
    return text != null
        && text.length() > LONGEST_REMEMBERED
        && !key.startsWith(SessionDocuments.PREFIX);
  }
}
