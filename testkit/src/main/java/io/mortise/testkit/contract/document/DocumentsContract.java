package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.annotation.Beta;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.document.VersionedDocuments.VersionedText;
import io.mortise.spi.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * The rules of {@link VersionedDocuments} on a server without a clock, for the author of an
 * adapter: extend it in a test. Each test has a namespace of its own.
 */
@Beta
public abstract class DocumentsContract {
  /** More than a list of the last removals that is kept short. */
  private static final int CHURN = 150;

  private static final int IN_FLIGHT = 100;

  private final List<VersionedDocuments> opened = new ArrayList<>();
  private @Nullable VersionedDocuments documents;

  /** For subclasses. */
  protected DocumentsContract() {}

  /** Opens the documents of the test's namespace, as one process does. */
  protected abstract VersionedDocuments open();

  /**
   * The same through a proxy. Requests wait for at least ten seconds for their answers. Override it
   * if there is a {@link #port}.
   *
   * @param port where the proxy listens, on the loopback
   */
  protected VersionedDocuments openBehind(int port) {
    throw new UnsupportedOperationException(
        "There is a port(), so override openBehind(port) too: faults are tested through it.");
  }

  /**
   * The server's own port on the loopback. The default, 0, is for documents without one, as of an
   * embedded server: the tests of late writes, of lost answers and of calls that wait are then
   * skipped, and say so.
   */
  protected int port() {
    return 0;
  }

  /**
   * Whether {@link VersionedDocuments#watch} tells of changes. Override it with false if the store
   * has no {@link io.mortise.spi.Capability#PUSH}.
   */
  protected boolean pushes() {
    return true;
  }

  /** How long a notification may take, or a write whose answer is lost. */
  Duration patience() {
    return BoundedWait.ANSWER;
  }

  /** More than the thousand keys that many servers list at a time. */
  int many() {
    return 1100;
  }

  /** The documents that all of a test's helpers use. */
  protected final VersionedDocuments documents() {
    VersionedDocuments present = documents;
    if (present == null) {
      present = closedAtTheEnd(open());
      documents = present;
    }
    return present;
  }

  /** Has them closed after the test. */
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

  private VersionedText standing(VersionedDocuments documents, String key, Written written) {
    VersionedText stands = written.stands();
    return stands == null ? BoundedWait.join(documents.read(key)) : stands;
  }

  /** Takes a step with each of many documents: many in flight together. The answers, in order. */
  private static <T, U> List<U> each(List<T> all, Function<T, CompletionStage<U>> step) {
    List<U> answers = new ArrayList<>();
    for (int from = 0; from < all.size(); from += IN_FLIGHT) {
      List<CompletionStage<U>> chunk =
          all.subList(from, Math.min(from + IN_FLIGHT, all.size())).stream().map(step).toList();
      chunk.forEach(answer -> answers.add(BoundedWait.join(answer)));
    }
    return answers;
  }

  /** Makes documents that have not been there, many in flight together: their keys and texts. */
  private Map<String, VersionedText> makeMany(int count) {
    List<String> keys =
        IntStream.range(0, count)
            .mapToObj(i -> String.format(Locale.ROOT, "lock/%04d", i))
            .toList();
    List<VersionedText> absent = each(keys, documents()::read);
    return writeMany(keys, absent, "x");
  }

  /** Writes all of these documents, or removes them. What stands then. */
  private Map<String, VersionedText> writeMany(
      List<String> keys, List<VersionedText> found, @Nullable String text) {
    VersionedDocuments documents = documents();
    List<Integer> places = IntStream.range(0, keys.size()).boxed().toList();
    List<Written> written =
        each(places, i -> documents.compareAndSet(keys.get(i), found.get(i), text));
    assertThat(written.stream().filter(each -> !each.made()).count())
        .as("writes of %d documents, each as it was read, that were refused", keys.size())
        .isZero();
    Map<String, VersionedText> stand = new LinkedHashMap<>();
    places.forEach(i -> stand.put(keys.get(i), standing(documents, keys.get(i), written.get(i))));
    return stand;
  }

  private List<String> scan(String prefix) {
    return BoundedWait.join(documents().scan(prefix, "", 10));
  }

  @AfterEach
  void close() {
    opened.forEach(VersionedDocuments::close);
  }

  @Test
  void givenDocument_thenItIsReplacedByItsVersionOnly_andVersionsRise() {
    VersionedText absent = read("lock/a");
    assertThat(absent.text()).isNull();
    assertThat(write("lock/a", absent, "one\ttwo\né 😀")).isTrue();
    assertThat(write("lock/a", absent, "other")).isFalse();
    VersionedText first = read("lock/a");
    assertThat(first.text()).isEqualTo("one\ttwo\né 😀");
    assertThat(write("lock/a", first, "")).isTrue();
    assertThat(write("lock/a", first, "late")).isFalse();
    VersionedText second = read("lock/a");
    assertThat(second.text()).isEmpty();
    assertThat(List.of(absent, first, second))
        .extracting(found -> Long.parseLong(found.version()))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(remove("lock/a", first)).isFalse();
    assertThat(remove("lock/a", second)).isTrue();
    assertThat(read("lock/a").text()).isNull();
  }

  @Test
  void givenDocumentThatWasMadeAndRemoved_whenAWriteThatFoundNoneArrivesLate_thenItIsRefused() {
    VersionedText before = read("lock/a");
    assertThat(write("lock/a", before, "made")).isTrue();
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    assertThat(write("lock/a", before, "late")).isFalse();
    assertThat(read("lock/a").text()).isNull();
    assertThat(write("lock/a", read("lock/a"), "anew")).isTrue();
  }

  /** A server may skip a write that changes nothing: the adapter has to see that it does not. */
  @Test
  void givenSameTextWrittenAgain_thenTheVersionRises_andAWriteThatFoundTheFirstIsRefused() {
    assertThat(write("lock/a", read("lock/a"), "")).isTrue();
    List<VersionedText> stood = new ArrayList<>();
    stood.add(read("lock/a"));
    VersionedDocuments other = closedAtTheEnd(open());
    for (VersionedDocuments writer : List.of(documents(), documents(), other, other, documents())) {
      VersionedText found = stood.get(stood.size() - 1);
      assertThat(BoundedWait.join(writer.compareAndSet("lock/a", found, "")).made()).isTrue();
      assertThat(write("lock/a", found, "late")).isFalse();
      stood.add(read("lock/a"));
    }
    assertThat(stood)
        .extracting(found -> Long.parseLong(found.version()))
        .isSorted()
        .doesNotHaveDuplicates();
  }

  /**
   * A list of removals that is kept short has forgotten this one, and versions that are compared as
   * texts go down where they gain a digit.
   */
  @Test
  void givenDocumentThatIsRemovedAgainAndAgain_whenWritesThatFoundNoneArriveLate_thenNoneIsMade() {
    VersionedDocuments other = closedAtTheEnd(open());
    List<VersionedText> between = new ArrayList<>();
    for (int round = 0; round < 12; round++) {
      between.add(BoundedWait.join(other.read("lock/a")));
      makeAndRemove("lock/a");
    }
    assertThat(between).extracting(VersionedText::text).containsOnlyNulls();
    assertRefused("lock/a", between, other);
    Map<String, VersionedText> others = makeMany(CHURN);
    writeMany(List.copyOf(others.keySet()), List.copyOf(others.values()), null);
    assertRefused("lock/a", between, other);
    between.add(BoundedWait.join(other.read("lock/a")));
    makeAndRemove("lock/a");
    assertRefused("lock/a", between, other);
    assertThat(BoundedWait.join(other.compareAndSet("lock/a", read("lock/a"), "anew")).made())
        .as("the control")
        .isTrue();
  }

  /** A sweep may list a document right before its removal, and asks to forget it right after. */
  @Test
  void givenRemovedDocument_whenItIsForgotten_thenEarlierWritesThatFoundNoneAreStillRefused() {
    VersionedDocuments other = closedAtTheEnd(open());
    List<VersionedText> between = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      between.add(read("lock/a"));
      makeAndRemove("lock/a");
      List.of(documents(), other, other).forEach(sweep -> BoundedWait.join(sweep.forget("lock/a")));
      assertRefused("lock/a", between, other);
    }
    assertThat(write("lock/a", read("lock/a"), "anew")).isTrue();
    BoundedWait.join(other.forget("lock/a"));
    assertThat(read("lock/a").text()).as("a document is not forgotten").isEqualTo("anew");
  }

  private void assertRefused(String key, List<VersionedText> found, VersionedDocuments other) {
    for (VersionedDocuments writer : List.of(documents(), other)) {
      List<Boolean> made =
          each(found, early -> writer.compareAndSet(key, early, "late").thenApply(Written::made));
      assertThat(made).as("late writes of %s", key).containsOnly(false);
    }
    assertThat(read(key).text()).isNull();
  }

  private void makeAndRemove(String key) {
    assertThat(write(key, read(key), "made")).isTrue();
    assertThat(remove(key, read(key))).isTrue();
  }

  /** Neither a replica that is behind nor what a process remembers may answer. */
  @Test
  void givenTwoProcesses_whenAWriteHasCompleted_thenBothReadIt() {
    VersionedDocuments other = closedAtTheEnd(open());
    for (String text : List.of("one", "two", "three", "four")) {
      VersionedDocuments writer = text.length() == 3 ? documents() : other;
      VersionedText found = BoundedWait.join(writer.read("lock/a"));
      Written written = BoundedWait.join(writer.compareAndSet("lock/a", found, text));
      assertThat(written.made()).as(text).isTrue();
      assertThat(read("lock/a").text()).isEqualTo(text);
      assertThat(BoundedWait.join(other.read("lock/a"))).isEqualTo(read("lock/a"));
    }
    assertThat(remove("lock/a", read("lock/a"))).isTrue();
    assertThat(BoundedWait.join(other.read("lock/a")).text()).isNull();
  }

  @Test
  void givenAnswersOfWrites_thenEachTellsWhatStands_andTheNextWriteGoesByIt() {
    VersionedDocuments documents = documents();
    VersionedText absent = read("lock/a");
    Written made = BoundedWait.join(documents.compareAndSet("lock/a", absent, "one"));
    VersionedText one = standing(documents, "lock/a", made);
    assertThat(one).isEqualTo(read("lock/a"));
    assertThat(write("lock/a", one, "two")).isTrue();

    Written refused = BoundedWait.join(documents.compareAndSet("lock/a", one, "late"));
    assertThat(refused.made()).isFalse();
    VersionedText two = standing(documents, "lock/a", refused);
    assertThat(two).isEqualTo(read("lock/a"));
    assertThat(two.text()).isEqualTo("two");

    Written removed = BoundedWait.join(documents.compareAndSet("lock/a", two, null));
    assertThat(removed.made()).isTrue();
    VersionedText none = standing(documents, "lock/a", removed);
    assertThat(none.text()).isNull();
    assertThat(write("lock/a", none, "anew")).isTrue();
  }

  /** As long as the record of a lock with a thousand waiters. */
  @Test
  void givenLongText_thenAllOfItIsKept() {
    String text = "é😀".repeat(20_000) + "\nend";
    VersionedDocuments documents = documents();
    Written made = BoundedWait.join(documents.compareAndSet("lock/a", read("lock/a"), text));
    for (VersionedText stands : List.of(standing(documents, "lock/a", made), read("lock/a"))) {
      String kept = stands.text();
      assertThat(kept == null ? 0 : kept.length()).as("characters").isEqualTo(text.length());
      assertThat(text.equals(kept)).as("it is this text").isTrue();
    }
  }

  /** An adapter that reads, compares, and then writes in another step lets two of them through. */
  @Test
  void givenWritesOfTwoProcessesAtATime_thenOneOfThemIsMade() {
    VersionedDocuments other = closedAtTheEnd(open());
    for (int round = 0; round < 20; round++) {
      VersionedText found = read("lock/a");
      List<CompletableFuture<Written>> writes = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        VersionedDocuments writer = i % 2 == 0 ? documents() : other;
        writes.add(writer.compareAndSet("lock/a", found, round + "/" + i).toCompletableFuture());
      }
      List<Boolean> made = writes.stream().map(each -> BoundedWait.join(each).made()).toList();
      assertThat(made).containsOnlyOnce(true);
      assertThat(read("lock/a").text()).isEqualTo(round + "/" + made.indexOf(true));
    }
  }

  /** A watch may leave out changes, so the document is written until it tells. */
  @Test
  void givenWatchesOfADocument_whenAnotherProcessWrites_thenEachIsTold_andNotAfterItsEnd() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    VersionedDocuments other = closedAtTheEnd(open());
    AtomicInteger told = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    documents().watch("session/a", told::incrementAndGet);
    Runnable end = documents().watch("session/a", ended::incrementAndGet);
    writeOnce(documents(), "session/a");
    writeUntil(other, "session/a", () -> told.get() > 0 && ended.get() > 0);
    end.run();
    end.run();
    // One that began before the end of the watch may still come.
    int seen = told.get();
    writeUntil(other, "session/a", () -> told.get() > seen);
    int late = ended.get();
    int then = told.get();
    writeUntil(other, "session/a", () -> told.get() > then);
    assertThat(ended).hasValue(late);
  }

  /** Of later writes, the notification may come before the answer. */
  @Test
  void givenWatchedDocuments_thenTheFirstOwnWriteOfEachIsNotTold() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    VersionedDocuments other = closedAtTheEnd(open());
    Assumptions.assumeTrue(
        other != documents(), "SKIPPED: open() gives one object, to which each write is its own.");
    AtomicInteger own = new AtomicInteger();
    AtomicInteger others = new AtomicInteger();
    documents().watch("session/a", own::incrementAndGet);
    documents().watch("session/b", others::incrementAndGet);
    writeOnce(documents(), "session/a");
    writeOnce(documents(), "session/b");
    writeUntil(other, "session/b", () -> others.get() > 0);
    assertThat(own).hasValue(0);
    writeUntil(other, "session/a", () -> own.get() > 0);
  }

  private void writeUntil(VersionedDocuments writer, String key, BooleanSupplier told) {
    long[] next = {0};
    BoundedWait.until(
        patience(),
        "a watch told of a change of " + key,
        () -> {
          if (!told.getAsBoolean() && next[0]++ % 20 == 0) {
            writeOnce(writer, key);
          }
          return told.getAsBoolean();
        });
  }

  private static void writeOnce(VersionedDocuments writer, String key) {
    VersionedText found = BoundedWait.join(writer.read(key));
    assertThat(BoundedWait.join(writer.compareAndSet(key, found, "x")).made()).isTrue();
  }

  @Test
  void givenWriteThatArrivesLate_whenNobodyWroteMeanwhile_thenItIsMade() {
    behindProxy(documents -> documents.assertLateWrite(false));
  }

  @Test
  void givenWriteThatArrivesLate_whenAnotherWroteMeanwhile_thenItIsRefused() {
    behindProxy(documents -> documents.assertLateWrite(true));
  }

  /** An adapter that reports a refusal hides a grant, which nobody would end. */
  @Test
  void givenWriteWhoseAnswerIsLost_thenItsFateIsUnknown_andNotThatItWasRefused() {
    behindProxy(documents -> documents.assertLostAnswer(patience()));
  }

  @Test
  void givenServerThatDoesNotAnswer_thenNoCallWaitsForIt() {
    behindProxy(documents -> documents.assertNoCallWaits(pushes()));
  }

  private void behindProxy(Consumer<DocumentFaultChecks> test) {
    Assumptions.assumeTrue(
        port() != 0,
        "SKIPPED: there is no port(). Check by other tests that the server itself compares the"
            + " version of a late write, that a lost answer is no refusal, and that no call waits"
            + " for its answer.");
    try (DocumentFaultChecks documents =
        new DocumentFaultChecks(
            documents(), port(), behind -> closedAtTheEnd(openBehind(behind)))) {
      test.accept(documents);
    }
  }

  /** The longest names differ in their last byte; others only in case or by a blank at the end. */
  @Test
  void givenManyDocuments_thenTheyAreListedPageByPage_eachKindByItself() {
    String long512 = "lock/" + "x".repeat(511);
    List<String> names =
        List.of(
            "lock/*",
            "lock/a",
            "lock/A",
            "lock/a ",
            "lock/a\u00e9",
            "lock/b",
            "lock/\uD83D\uDE00",
            long512 + "1",
            long512 + "2");
    for (String name : names) {
      assertThat(write(name, read(name), name)).as(name).isTrue();
    }
    assertThat(names).allSatisfy(name -> assertThat(read(name).text()).isEqualTo(name));
    assertThat(write("session/a", read("session/a"), "x")).isTrue();
    List<String> all = new ArrayList<>();
    String after = "";
    for (int pages = 0; pages < 10; pages++) {
      List<String> page = BoundedWait.join(documents().scan("lock/", after, 2));
      all.addAll(page);
      if (page.size() < 2) {
        break;
      }
      after = page.get(1);
    }
    assertThat(all).containsExactlyInAnyOrderElementsOf(names);
    assertThat(scan("lock/a")).containsExactlyInAnyOrder("lock/a", "lock/a ", "lock/a\u00e9");
    assertThat(scan("session/")).containsExactly("session/a");
  }

  @Test
  void givenLastKeyOfAPage_whenItsDocumentIsRemoved_thenTheNextPageBeginsBehindIt() {
    for (String name : List.of("lock/a", "lock/b", "lock/c", "lock/d", "lock/e")) {
      assertThat(write(name, read(name), name)).isTrue();
    }
    List<String> all = scan("lock/");
    String last = all.get(2);
    assertThat(remove(last, read(last))).isTrue();
    assertThat(BoundedWait.join(documents().scan("lock/", last, 10))).isEqualTo(all.subList(3, 5));
    assertThat(BoundedWait.join(documents().scan("lock/", last, 1))).isEqualTo(all.subList(3, 4));
  }

  /** A server that lists a thousand keys at a time, and says that there are more. */
  @Test
  void givenMoreDocumentsThanServersListAtATime_whenAllAreAskedFor_thenNoneIsLeftOut() {
    Set<String> keys = makeMany(many()).keySet();
    List<String> listed = BoundedWait.join(documents().scan("lock/", "", 2048));
    assertThat(listed.size())
        .as("keys listed: fewer than the limit are the last ones, also if a server lists by pages")
        .isEqualTo(keys.size());
    assertThat(Set.copyOf(listed).equals(keys)).as("they are these keys").isTrue();
  }
}
