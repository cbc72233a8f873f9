package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.LockState;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A survey agrees with inspections of each lock, and both can be limited to a prefix. */
class SurveySuite extends StoreSuite {
  /** The longest time between the two looks. */
  private static final Duration APART = Duration.ofSeconds(20);

  SurveySuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsLocksThatAreListed() {
    needsList();
  }

  @Test
  void givenNoLock_thenASurveyShowsNone() {
    Page<LockInfo> page = BoundedWait.join(store().inspect(LockQuery.all().summarized()));
    assertThat(page.items()).isEmpty();
    assertThat(page.next()).isNull();
  }

  @Test
  void givenHolder_thenTheSurveySaysWhoAndSinceWhen() {
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX, new HoldTerms(null, null, "nightly — é")).attempt();
    under.pass(Duration.ofMillis(20));
    LockInfo line = only(LOCK);
    assertThat(line.state()).isEqualTo(LockState.HELD);
    assertThat(line.permits()).isEmpty();
    assertThat(line.holderCount()).isEqualTo(1);
    assertThat(line.waiterCount()).isZero();
    assertThat(line.holders().get(0).attempt()).isEqualTo(attempt.encoded());
    assertThat(line.holders().get(0).label()).isEqualTo(labelShown("nightly — é"));
    assertThat(line.shutFor()).isZero();
    assertAgrees();
  }

  /** The label to expect: stores that show only attempts have no labels. */
  private String labelShown(String label) {
    return look(LOCK).orElseThrow().holders().get(0).label().isEmpty() ? "" : label;
  }

  @Test
  void givenAnonymousHolderWithoutTerms_thenTheSurveyAgrees() {
    session("a").hold(LOCK, EX);
    under.pass(Duration.ofMillis(20));
    assertThat(only(LOCK).holders().get(0).since()).isLessThan(APART);
    assertAgrees();
  }

  @Test
  void givenWaiters_thenTheyAreCounted_alsoWhenTheLockWasHandedOver() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId held = a.hold(LOCK, EX).attempt();
    a.hold(OTHER, EX);
    for (int i = 0; i < 3; i++) {
      b.queued(LOCK, EX);
    }
    assertThat(only(LOCK).waiterCount()).isEqualTo(3);
    assertThat(only(OTHER).waiterCount()).isZero();
    assertAgrees();
    a.end(LOCK, held);
    assertThat(only(LOCK).waiterCount()).isEqualTo(2);
    assertAgrees();
  }

  @Test
  void givenReaders_thenTheyAreCounted() {
    needs(Capability.SHARED);
    SessionDriver a = session("a");
    for (int i = 0; i < 4; i++) {
      a.hold(LOCK, SH);
    }
    assertThat(only(LOCK).holderCount()).isEqualTo(4);
    assertAgrees();
  }

  @Test
  void givenPermits_thenTheSemaphoreIsShownAsOne() {
    needs(Capability.PERMITS);
    SessionDriver a = session("a");
    a.hold(LOCK, Mode.permits(2, 5));
    a.hold(LOCK, Mode.permits(1, 5));
    LockInfo line = only(LOCK);
    assertThat(line.permits()).hasValue(5);
    assertThat(line.holderCount()).isIn(2, LockInfo.SOME);
    assertAgrees();
  }

  @Test
  void givenLockThatAtLeastTimeKeepsShut_thenItIsShut_withOrWithoutWaiters() {
    needs(Capability.AT_LEAST);
    SessionDriver a = session("a");
    a.end(LOCK, a.hold(LOCK, EX, atLeast(LONG)).attempt());
    LockInfo line = only(LOCK);
    assertThat(line.state()).isEqualTo(LockState.SHUT);
    assertThat(line.holderCount()).isZero();
    assertThat(line.holders()).isEmpty();
    assertThat(line.shutFor()).isBetween(Duration.ofMinutes(4), shown(LONG));
    assertAgrees();
    if (can(Capability.QUEUE)) {
      a.queued(LOCK, EX);
      assertThat(only(LOCK).state()).isEqualTo(LockState.SHUT);
      assertThat(only(LOCK).waiterCount()).isEqualTo(1);
      assertAgrees();
    }
  }

  @Test
  void givenIdleLock_thenItIsNotShown() {
    SessionDriver a = session("a");
    a.end(LOCK, a.hold(LOCK, EX).attempt());
    assertThat(survey("", 1000)).isEmpty();
  }

  @Test
  void givenDeadHolder_thenItIsShownAsHeld_andTheLookEndsNothing() {
    needsProofs();
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    die(a);
    for (int i = 0; i < 2; i++) {
      assertThat(only(LOCK).state()).isEqualTo(LockState.HELD);
      assertThat(only(LOCK).holders().get(0).attempt()).isEqualTo(attempt.encoded());
    }
    assertAgrees();
    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  void givenManyLocks_thenPagesShowEachOnce_andNoneIsTooLong() {
    SessionDriver a = session("a");
    Set<String> held = new HashSet<>();
    for (int i = 0; i < 60; i++) {
      LockName name = LockName.of("page/" + i);
      a.hold(name, EX);
      held.add(name.value());
    }
    for (int limit : List.of(7, 10, 50, 1000)) {
      assertThat(survey("", limit))
          .extracting(LockInfo::name)
          .containsExactlyInAnyOrderElementsOf(held);
      assertThat(survey("page/1", limit)).hasSize(11);
      assertThat(inspect("page/1", limit)).hasSize(11);
    }
    assertAgrees();
  }

  @Test
  void givenNamesWithWhatPatternsAreMadeOf_thenAPrefixMeansItself() {
    List<String> names =
        Stream.of(
                "p",
                "p*a",
                "p?a",
                "pxa",
                "p%a",
                "p_a",
                "p[a",
                "p[x]a",
                "p]a",
                "p\\a",
                "p\\*",
                "P*a",
                "p'a",
                "p\"a",
                "p/a",
                "p/b",
                "p0",
                "{t}a",
                "{t}b",
                "e/1",
                "\u00e9/1",
                "e\u0301/1",
                "\u9396/1",
                "\u9396",
                "\ud83d\ude00/1",
                "\ud83d\ude01/1",
                "x\ud7ff/1",
                "x\ue000/1",
                "x\ud83d\ude00/1",
                "x\uffff/1",
                "y",
                "\udbff\udfff/1")
            .filter(name -> under.takes(LockName.of(name)))
            .toList();
    SessionDriver a = session("a");
    names.forEach(name -> a.hold(LockName.of(name), EX));
    Set<String> prefixes = new HashSet<>(names);
    prefixes.addAll(
        List.of("", "p[", "p\\", "p%", "*", "?", "%", "_", "[", "z", "x", "{", "{t}", "\u00e9"));
    prefixes.addAll(
        List.of(
            "\ud83d\ude00",
            "x\ud7ff",
            "x\uffff",
            "\udbff\udfff",
            "P",
            "p/",
            "p*",
            "n".repeat(512)));
    for (String prefix : prefixes) {
      List<String> expected = names.stream().filter(name -> name.startsWith(prefix)).toList();
      for (int limit : List.of(2, 1000)) {
        assertThat(survey(prefix, limit))
            .as("survey of '%s', %s a page", prefix, limit)
            .extracting(LockInfo::name)
            .containsExactlyInAnyOrderElementsOf(expected);
        assertThat(inspect(prefix, limit))
            .as("inspection of '%s', %s a page", prefix, limit)
            .extracting(LockInfo::name)
            .containsExactlyInAnyOrderElementsOf(expected);
      }
    }
  }

  /** Asserts that the survey agrees with an inspection of each lock, apart from omitted details. */
  private void assertAgrees() {
    List<LockInfo> lines = survey("", 1000);
    List<LockInfo> views = inspect("", 1000);
    assertThat(lines)
        .extracting(LockInfo::name)
        .containsExactlyInAnyOrderElementsOf(views.stream().map(LockInfo::name).toList());
    for (LockInfo looked : views) {
      assertThat(lines)
          .filteredOn(line -> line.name().equals(looked.name()))
          .singleElement()
          .satisfies(line -> assertAgrees(line, looked));
    }
  }

  private static void assertAgrees(LockInfo line, LockInfo looked) {
    assertThat(line.permits()).isEqualTo(looked.permits());
    assertThat(line.state()).isEqualTo(looked.state());
    if (looked.permits().isEmpty() || looked.holderCount() == 0) {
      assertThat(line.holderCount()).isEqualTo(looked.holderCount());
    } else { // For semaphores some stores count permits only.
      assertThat(line.holderCount()).isIn(looked.holderCount(), LockInfo.SOME);
    }
    assertThat(line.waiterCount()).isEqualTo(looked.waiterCount());
    boolean leftOut = looked.holderCount() != 0 && line.shutFor().isZero();
    assertThat(line.shutFor()).isCloseTo(leftOut ? Duration.ZERO : looked.shutFor(), APART);
    if (!line.holders().isEmpty()) {
      LockParticipant first = line.holders().get(0);
      LockParticipant lookedAt = looked.holders().get(0);
      assertThat(first.attempt()).isEqualTo(lookedAt.attempt());
      assertThat(first.label()).isEqualTo(lookedAt.label());
      assertThat(first.share()).isEqualTo(lookedAt.share());
      assertThat(first.since()).isCloseTo(lookedAt.since(), APART);
    } else if (line.permits().isEmpty()) {
      assertThat(looked.holderCount()).as("a lock's only holder is told").isNotEqualTo(1);
    }
  }

  private LockInfo only(LockName name) {
    return survey(name.value(), 1000).stream()
        .filter(line -> line.name().equals(name.value()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("'" + name + "' is not in the survey."));
  }

  /** Surveys all pages, each lock once: scans of keys may find it twice. */
  private List<LockInfo> survey(String prefix, int limit) {
    Map<String, LockInfo> found = new LinkedHashMap<>();
    String cursor = null;
    for (int page = 0; page < 1000; page++) {
      Page<LockInfo> next =
          BoundedWait.join(
              store().inspect(LockQuery.beginningWith(prefix).page(cursor, limit).summarized()));
      assertThat(next.items()).hasSizeLessThanOrEqualTo(limit);
      next.items().forEach(line -> found.put(line.name(), line));
      cursor = next.next();
      if (cursor == null) {
        return List.copyOf(found.values());
      }
    }
    throw new AssertionError("There is no last page: " + found);
  }

  private List<LockInfo> inspect(String prefix, int limit) {
    Map<String, LockInfo> found = new LinkedHashMap<>();
    String cursor = null;
    for (int page = 0; page < 1000; page++) {
      Page<LockInfo> next =
          BoundedWait.join(store().inspect(LockQuery.beginningWith(prefix).page(cursor, limit)));
      assertThat(next.items()).hasSizeLessThanOrEqualTo(limit);
      next.items().forEach(view -> found.put(view.name(), view));
      cursor = next.next();
      if (cursor == null) {
        return List.copyOf(found.values());
      }
    }
    throw new AssertionError("There is no last page: " + found);
  }
}
