package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;

/** The documents of a test, with helpers. */
abstract class DocumentsFixture {
  private static final int IN_FLIGHT = 100;

  private final List<VersionedDocuments> opened = new ArrayList<>();
  private @Nullable VersionedDocuments documents;

  /** Opens the documents of the test's namespace, as one process does. */
  protected abstract VersionedDocuments open();

  /**
   * The same through a proxy. Requests wait for at least ten seconds for their answers. Override it
   * if there is a {@link #port}.
   *
   * @param port of the proxy, on the loopback
   */
  protected VersionedDocuments openBehind(int port) {
    throw new UnsupportedOperationException(
        "There is a port(), so override openBehind(port) too: faults are tested through it.");
  }

  /**
   * The server's own port on the loopback. The default, 0, is for documents without one, as in an
   * embedded server: tests of late writes, lost answers, broken connections and waiting calls are
   * then skipped visibly.
   */
  protected int port() {
    return 0;
  }

  /**
   * Whether {@link VersionedDocuments#watch} reports changes. Override it with false if the store
   * has no {@link io.mortise.spi.Capability#PUSH}.
   */
  protected boolean pushes() {
    return true;
  }

  /**
   * Whether a write is one request. Override it with false if later requests of a write follow
   * answers to earlier ones: its answers are then late, rather than held, until it is made.
   */
  protected boolean writesInOneRequest() {
    return true;
  }

  /** The longest time of a notification, or of a write whose answer is lost. */
  Duration patience() {
    return BoundedWait.ANSWER;
  }

  /** The documents used by all helpers. */
  protected final VersionedDocuments documents() {
    VersionedDocuments present = documents;
    if (present == null) {
      present = closedAtTheEnd(open());
      documents = present;
    }
    return present;
  }

  /** Has these documents closed after the test. */
  protected final <T extends VersionedDocuments> T closedAtTheEnd(T further) {
    opened.add(further);
    return further;
  }

  /** Waits for the document, with a bound. */
  protected final VersionedText read(String key) {
    return BoundedWait.join(documents().read(key));
  }

  /** Whether it was written. Waits for the answer, with a bound. */
  protected final boolean write(String key, VersionedText found, String text) {
    return BoundedWait.join(documents().compareAndSet(key, found, text)).made();
  }

  /** Whether it was removed. Waits for the answer, with a bound. */
  protected final boolean remove(String key, VersionedText found) {
    return BoundedWait.join(documents().compareAndSet(key, found, null)).made();
  }

  final VersionedText standing(VersionedDocuments documents, String key, Written written) {
    VersionedText stands = written.stands();
    return stands == null ? BoundedWait.join(documents.read(key)) : stands;
  }

  /** Runs a step for each of many documents, with many in flight; returns the answers in order. */
  static <T, U> List<U> each(List<T> all, Function<T, CompletionStage<U>> step) {
    List<U> answers = new ArrayList<>();
    for (int from = 0; from < all.size(); from += IN_FLIGHT) {
      List<CompletionStage<U>> chunk =
          all.subList(from, Math.min(from + IN_FLIGHT, all.size())).stream().map(step).toList();
      chunk.forEach(answer -> answers.add(BoundedWait.join(answer)));
    }
    return answers;
  }

  /** Creates new documents, with many requests in flight; returns their texts by key. */
  final Map<String, VersionedText> makeMany(int count) {
    List<String> keys =
        IntStream.range(0, count)
            .mapToObj(i -> String.format(Locale.ROOT, "lock/%04d", i))
            .toList();
    List<VersionedText> absent = each(keys, documents()::read);
    return writeMany(keys, absent, "x");
  }

  /** Writes or removes all of these documents; returns their new state. */
  final Map<String, VersionedText> writeMany(
      List<String> keys, List<VersionedText> found, @Nullable String text) {
    VersionedDocuments documents = documents();
    List<Integer> places = IntStream.range(0, keys.size()).boxed().toList();
    List<Written> written =
        each(places, i -> documents.compareAndSet(keys.get(i), found.get(i), text));
    assertThat(written.stream().filter(each -> !each.made()).count())
        .as("writes of %s documents, each as it was read, that were refused", keys.size())
        .isZero();
    Map<String, VersionedText> stand = new LinkedHashMap<>();
    places.forEach(i -> stand.put(keys.get(i), standing(documents, keys.get(i), written.get(i))));
    return stand;
  }

  /** Writes a document until another process that watches it has been notified. */
  static void writeUntil(
      Duration patience, VersionedDocuments writer, String key, BooleanSupplier told) {
    long[] next = {0};
    BoundedWait.until(
        patience,
        "a watch told of a change of " + key + " (if there is no watch, override pushes())",
        () -> {
          if (!told.getAsBoolean() && next[0]++ % 20 == 0) {
            writeOnce(writer, key);
          }
          return told.getAsBoolean();
        });
  }

  static void writeOnce(VersionedDocuments writer, String key) {
    VersionedText found = BoundedWait.join(writer.read(key));
    assertThat(BoundedWait.join(writer.compareAndSet(key, found, "x")).made()).isTrue();
  }

  final List<String> scan(String prefix) {
    return BoundedWait.join(documents().scan(prefix, "", 10));
  }

  /** Runs a test through a proxy; skipped without a port. */
  final void behindProxy(Consumer<DocumentFaultChecks> test) {
    Assumptions.assumeTrue(
        port() != 0,
        "SKIPPED: there is no port(). Check by other tests that the server itself compares the"
            + " version of a late write, that a lost answer is no refusal and tells of no absence,"
            + " that no call waits, and that broken connections and watches are made anew.");
    try (DocumentFaultChecks documents =
        new DocumentFaultChecks(
            documents(), port(), behind -> closedAtTheEnd(openBehind(behind)))) {
      test.accept(documents);
    }
  }

  @AfterEach
  void close() {
    opened.forEach(VersionedDocuments::close);
  }
}
