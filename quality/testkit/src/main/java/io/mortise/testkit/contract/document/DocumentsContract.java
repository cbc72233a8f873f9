package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.annotation.Beta;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * The rules of {@link VersionedDocuments} on a clockless server, for the author of an adapter:
 * extend it in a test. Each test has its own namespace.
 */
@Beta
public abstract class DocumentsContract extends DocumentContentSuite {
  /** More than a bounded list of recent removals holds. */
  private static final int CHURN = 150;

  /** For subclasses. */
  protected DocumentsContract() {}

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

  /** A server may skip a write that changes nothing; the adapter has to prevent that. */
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
   * A bounded list of removals has forgotten this one, and versions compared as texts decrease when
   * they gain a digit.
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

  /** Neither a stale replica nor a local cache may answer. */
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

  /** An adapter that compares and writes in two steps lets both writes through. */
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

  /** A watch may skip changes, so the document is written until it notifies. */
  @Test
  void givenWatchesOfADocument_whenAnotherProcessWrites_thenEachIsTold_andNotAfterItsEnd() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    VersionedDocuments other = closedAtTheEnd(open());
    AtomicInteger told = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    documents().watch("session/a", found -> told.incrementAndGet());
    Runnable end = documents().watch("session/a", found -> ended.incrementAndGet());
    writeOnce(documents(), "session/a");
    writeUntil(patience(), other, "session/a", () -> told.get() > 0 && ended.get() > 0);
    end.run();
    end.run();
    // A notification begun before the end of the watch may still arrive.
    int seen = told.get();
    writeUntil(patience(), other, "session/a", () -> told.get() > seen);
    int late = ended.get();
    int then = told.get();
    writeUntil(patience(), other, "session/a", () -> told.get() > then);
    assertThat(ended).hasValue(late);
  }

  @Test
  void givenSeveralDocuments_whenOneHasChanged_thenNoneIsWritten_otherwiseAllAre() {
    Assumptions.assumeTrue(
        documents().writesTogether(), "SKIPPED: these documents are written one by one.");
    List<String> keys = List.of("lock/a", "session/a", "session/b");
    keys.forEach(key -> assertThat(write(key, read(key), "first " + key)).isTrue());
    List<VersionedText> first = keys.stream().map(this::read).toList();
    assertMade(writeAll(keys, first, "second\té 😀 "), keys, true);
    List<VersionedText> second = keys.stream().map(this::read).toList();
    assertThat(second)
        .extracting(VersionedText::text)
        .containsExactlyElementsOf(texts("second\té 😀 ", keys));
    for (String changed : keys) {
      List<VersionedText> found = keys.stream().map(this::read).toList();
      assertThat(write(changed, read(changed), "changed")).isTrue();
      List<VersionedText> stands = keys.stream().map(this::read).toList();
      assertMade(writeAll(keys, found, "third "), keys, false);
      assertThat(keys.stream().map(this::read)).containsExactlyElementsOf(stands);
    }
    assertThat(remove("session/b", read("session/b"))).isTrue();
    assertMade(writeAll(keys, second, "fourth "), keys, false);
    assertThat(read("session/b").text()).isNull();
  }

  private static List<String> texts(String before, List<String> keys) {
    return keys.stream().map(key -> before + key).toList();
  }

  private List<Written> writeAll(List<String> keys, List<VersionedText> found, String before) {
    List<DocumentWrite> writes = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      writes.add(new DocumentWrite(keys.get(i), found.get(i), before + keys.get(i)));
    }
    return BoundedWait.join(documents().compareAndSetAll(writes));
  }

  /** What an answer tells must be what is read. */
  private void assertMade(List<Written> written, List<String> keys, boolean made) {
    assertThat(written).hasSameSizeAs(keys).allMatch(each -> each.made() == made);
    for (int i = 0; i < keys.size(); i++) {
      VersionedText stands = written.get(i).stands();
      assertThat(stands == null ? read(keys.get(i)) : stands).isEqualTo(read(keys.get(i)));
    }
  }

  /** A watch may tell no texts. */
  @Test
  void givenWatchThatTellsTexts_thenEachIsThatOfItsVersion() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    VersionedDocuments other = closedAtTheEnd(open());
    List<VersionedText> told = new CopyOnWriteArrayList<>();
    AtomicInteger calls = new AtomicInteger();
    documents()
        .watch(
            "session/a",
            found -> {
              if (found != null) {
                told.add(found);
              }
              calls.incrementAndGet();
            });
    writeOnce(documents(), "session/a");
    List<VersionedText> written = new ArrayList<>(List.of(read("session/a")));
    BoundedWait.until(
        patience(),
        "a watch told of two changes",
        () -> {
          String text = "line\té 😀\n" + written.size();
          assertThat(BoundedWait.join(other.compareAndSet("session/a", last(written), text)).made())
              .isTrue();
          written.add(read("session/a"));
          return calls.get() > 1;
        });
    assertThat(written).containsAll(told);
  }

  private static VersionedText last(List<VersionedText> all) {
    return all.get(all.size() - 1);
  }

  /** The notification of later writes may arrive before their answer. */
  @Test
  void givenWatchedDocuments_thenTheFirstOwnWriteOfEachIsNotTold() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    VersionedDocuments other = closedAtTheEnd(open());
    Assumptions.assumeTrue(
        other != documents(), "SKIPPED: open() gives one object, to which each write is its own.");
    AtomicInteger own = new AtomicInteger();
    AtomicInteger others = new AtomicInteger();
    documents().watch("session/a", found -> own.incrementAndGet());
    documents().watch("session/b", found -> others.incrementAndGet());
    writeOnce(documents(), "session/a");
    writeOnce(documents(), "session/b");
    writeUntil(patience(), other, "session/b", () -> others.get() > 0);
    assertThat(own).hasValue(0);
    writeUntil(patience(), other, "session/a", () -> own.get() > 0);
  }

  @Test
  void givenWriteThatArrivesLate_whenNobodyWroteMeanwhile_thenItIsMade() {
    behindProxy(documents -> documents.assertLateWrite(false));
  }

  @Test
  void givenWriteThatArrivesLate_whenAnotherWroteMeanwhile_thenItIsRefused() {
    behindProxy(documents -> documents.assertLateWrite(true));
  }

  /** An adapter that reports a refusal hides a grant, which would never be ended. */
  @Test
  void givenWriteWhoseAnswerIsLost_thenItsFateIsUnknown_andNotThatItWasRefused() {
    behindProxy(documents -> documents.assertLostAnswer(writesInOneRequest(), patience()));
  }

  @Test
  void givenServerThatDoesNotAnswer_thenNoCallWaitsForIt() {
    behindProxy(documents -> documents.assertNoCallWaits(pushes()));
  }

  @Test
  void givenConnectionThatCannotBeMade_thenNoCallWaitsForIt() {
    behindProxy(documents -> documents.assertNoCallWaitsToConnect(pushes(), patience()));
  }

  /** Handlers of an answer may be slow, without delaying other calls. */
  @Test
  void givenAnswerThatIsBeingTold_thenFurtherCallsReturn() {
    behindProxy(documents -> documents.assertNoLockIsHeld(patience()));
  }

  /** Absence that is not proven makes a lock look free. */
  @Test
  void givenServerThatIsCutOff_thenReadsAndListsTellOfNoAbsence_andItIsUsedAgainWhenItIsBack() {
    behindProxy(documents -> documents.assertOutage(patience()));
  }

  @Test
  void givenWatchWhoseConnectionBroke_whenItsDocumentIsWrittenAgain_thenItTellsOfChanges() {
    Assumptions.assumeTrue(pushes(), "SKIPPED: these documents are not pushed.");
    behindProxy(documents -> documents.assertWatchIsMadeAnew(patience()));
  }
}
