package io.mortise.support.document;

import io.mortise.annotation.Beta;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Documents, each with a version: all that a {@link DocumentStore} needs of a server. Two
 * operations are atomic: to read a document, and to replace it if its version is unchanged since
 * the read.
 *
 * <p>Keys are {@code session/} and a session's id, {@code lock/} or {@code rear/} and a lock's
 * name, {@code fact/} and a fact's, or {@code sweep/turn}: up to 517 bytes of UTF-8 without control
 * characters. Texts have control characters: tabs and line feeds.
 *
 * <p>Thread-safe. No method waits for an answer or a connection; broken connections are reopened. A
 * write into a full socket may block for the timeout. Stages complete on any thread, with no lock
 * held. They complete exceptionally with {@link io.mortise.StoreUnavailableException} if the server
 * does not answer. A write may then have been executed, but is never executed later than {@link
 * io.mortise.spi.StoreProfile#maxInFlight} after the call. In a {@linkplain DocumentStore#clockless
 * clockless} store it may be executed at any time, if the version is then still the one that was
 * found. A failure without an {@link java.io.IOException} or {@link
 * java.util.concurrent.TimeoutException} among its causes means that the server has refused the
 * request; the failure for a document that is too large has a {@link DocumentTooLargeException} as
 * its cause.
 */
@Beta
public interface VersionedDocuments {
  /**
   * A document at the time of a read.
   *
   * @param text null if there is none under that key
   * @param version the server's name for this state of the document; a document that was removed
   *     and created again never gets an old version. In a {@linkplain DocumentStore#clockless
   *     clockless} store a decimal number that each write of the document raises, also its removal;
   *     so a write that found no document fails if one was created and removed since
   */
  record VersionedText(@Nullable String text, String version) {
    /** An absent document, if the server has a clock. Without one, absence too has a version. */
    public static final VersionedText ABSENT = new VersionedText(null, "");
  }

  /**
   * The outcome of a write.
   *
   * @param made false if another process has written meanwhile; nothing was changed then
   * @param stands the document right after that, if the server returns it in the same answer; null
   *     if not: it is then read when needed
   */
  record Written(boolean made, @Nullable VersionedText stands) {}

  /**
   * Reads a document. A read that begins after a write has completed must see it; stale replicas
   * are not read.
   */
  CompletionStage<VersionedText> read(String key);

  /**
   * Writes the document, or removes it, if its version is still the one found.
   *
   * @param text the whole new document; null to remove it
   * @return whether it was written, and the present document
   */
  CompletionStage<Written> compareAndSet(String key, VersionedText found, @Nullable String text);

  /**
   * A write of a document that was there, and stays.
   *
   * @param found as it was read or written; with a text
   * @param text the whole new document
   */
  record DocumentWrite(String key, VersionedText found, String text) {}

  /**
   * Whether the server can write several documents in one transaction. A lock and the notes about
   * it then take one write instead of two, one after the other, and a long queue is kept in two
   * documents.
   */
  default boolean writesTogether() {
    return false;
  }

  /**
   * Writes some documents with different keys, each over the version that was found: either all of
   * them or none. No read and no notification ever shows a part of them. Called with at most eight,
   * and only if {@link #writesTogether}.
   *
   * @return for each document, in order, as {@link #compareAndSet} does: all are made, or none
   */
  default CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
    throw new UnsupportedOperationException("Implement this too if writesTogether() is true.");
  }

  /**
   * Keys that begin with a prefix, in an order that never changes. Documents created or removed
   * meanwhile may be listed or not, and a removed document may be listed for a while.
   *
   * @param after the last key of the call before; empty to begin
   * @param limit the maximum number of keys; fewer than this are the last ones
   */
  CompletionStage<List<String>> scan(String prefix, String after, int limit);

  /**
   * A document of a list.
   *
   * @param found as {@link #read} would return it; without a text if it was removed meanwhile
   */
  record ListedText(String key, VersionedText found) {}

  /**
   * The documents of the keys that {@link #scan} lists, to read many. Each as it stood at some time
   * of the call, or later. The default reads them one by one, some at a time; a server that lists
   * texts too needs one request.
   */
  default CompletionStage<List<ListedText>> scanTexts(String prefix, String after, int limit) {
    return scan(prefix, after, limit).thenCompose(keys -> ListedTexts.read(this, keys));
  }

  /**
   * Forgets the remains of a removed document in the server, if no request from before the removal
   * can be in flight any more. Called by a sweep, with a key that {@link #scan} has listed and that
   * has no document. The default has nothing to forget.
   *
   * @return whether anything was forgotten
   */
  default CompletionStage<Boolean> forget(String key) {
    return CompletableFuture.completedFuture(false);
  }

  /**
   * Calls {@code changed}, on any thread, soon after another process has written the document: with
   * the document as of that write, or with null if it has to be read. Later writes may have changed
   * it, and two calls may come in the other order. May skip some writes, and all before the next
   * write of this process: the watcher writes a watched document again and again. May skip writes
   * of this very object, since each call may cost a read. An object that a store uses for documents
   * and renewals skips none: sessions of one process write notes to each other. A watch whose
   * connection broke is renewed, at the next write of this process at the latest. A key may have
   * several watches. Called only for a store with {@link io.mortise.spi.Capability#PUSH}.
   *
   * @return the action that ends this watch, and no other one of the key; may be run more than once
   */
  default Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
    return () -> {};
  }

  /**
   * How late a watch may report a change: zero for a server that pushes it, else the pause between
   * two reads.
   */
  default Duration watchDelay() {
    return Duration.ZERO;
  }

  /**
   * The server's time, in microseconds since 1970: one clock for all processes, which never goes
   * back. Sessions and times expire by it. Not called for a {@linkplain DocumentStore#clockless
   * clockless} store.
   *
   * @throws UnsupportedOperationException by default, for clockless servers
   */
  default long micros() {
    throw new UnsupportedOperationException(
        "Implement micros(), or open the store by DocumentStore.clockless.");
  }

  /**
   * The time of day of this process in microseconds. In a {@linkplain DocumentStore#clockless
   * clockless} store displayed ages and the removal of idle records use it. It is read once, and
   * then runs with the monotonic clock and the time for which the host is suspended: it never goes
   * back.
   */
  static LongSupplier timeOfDay(Ticker ticker, InstantSource wallClock) {
    Ticker suspended = SystemEnv.suspendedLately(ticker);
    LongSupplier awake = () -> ticker.nanos() + suspended.nanos();
    long begin = awake.getAsLong();
    long start = TimeUnit.MILLISECONDS.toMicros(wallClock.millis());
    return () -> start + TimeUnit.NANOSECONDS.toMicros(awake.getAsLong() - begin);
  }

  /** Closes connections and threads. Blocks for seconds at most. A store calls it once. */
  default void close() {}
}
