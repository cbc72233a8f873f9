package io.mortise.torture.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.torture.history.FaultEffect.DelayBound;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Hand-written histories, each with one violation to be detected. */
class HistoryCheckerTest {
  private static final Duration TTL = Duration.ofNanos(1_000);
  private static final Duration PATIENCE = Duration.ofNanos(500);

  private static final Map<String, FaultEffect> EFFECTS =
      Map.of(
          "forget", new FaultEffect(DelayBound.STORE, Set.of(SafetyRule.EXCLUSION)),
          "server-pause", FaultEffect.of(DelayBound.STORE),
          "kill", FaultEffect.of(DelayBound.PROCESS),
          "pause", FaultEffect.of(DelayBound.PROCESS),
          "pause-in-a-transaction", FaultEffect.of(DelayBound.STORE),
          "cut-off", FaultEffect.of(DelayBound.PROCESS),
          "kill-waiter", FaultEffect.of(DelayBound.WAITER),
          "kill-waiter-by-session", FaultEffect.of(DelayBound.WAITER_BY_SESSION),
          "slow", FaultEffect.of(DelayBound.SLOW),
          "lost-replies", FaultEffect.of(DelayBound.LOST_WORD));

  private final HistoryChecker historyChecker = new HistoryChecker(TTL, PATIENCE, EFFECTS);

  /** An acquire with its answer, granted or busy: the times of both are at the begin. */
  private static final Pattern ANSWERED =
      Pattern.compile("(\\d+)/(\\d+ (G|B)) (\\d+ \\S+ \\d+) (.*)");

  /**
   * Checks lines with short worker numbers: {@code nanos letter worker lock try token more}. In a
   * line {@code asked/answered G worker ...} an acquire goes before its answer.
   */
  private CheckResult check(String... lines) {
    return check(historyChecker, lines);
  }

  private static CheckResult check(HistoryChecker checker, String... lines) {
    for (String line : lines) {
      take(checker, line);
    }
    return checker.check();
  }

  private static void take(HistoryChecker checker, String line) {
    Matcher both = ANSWERED.matcher(line);
    if (!both.matches()) {
      checker.take(HistoryEvent.parse(line));
      return;
    }
    String rest = both.group(3).equals("B") ? " 0 1" : " 0 0";
    checker.take(HistoryEvent.parse(both.group(1) + " A " + both.group(4) + rest));
    checker.take(HistoryEvent.parse(both.group(2) + " " + both.group(4) + " " + both.group(5)));
  }

  private static List<SafetyRule> rules(CheckResult checkResult) {
    return checkResult.findings().stream().map(HistoryViolation::rule).toList();
  }

  @Test
  void givenHoldsOneAfterTheOther_thenNothingIsFound() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "30 S 1001 hot-0 1 7 0",
            "40 R 1001 hot-0 1 0 0",
            "25/35 G 2001 hot-0 1 8 0",
            "36 S 2001 hot-0 1 8 0",
            "37 R 2001 hot-0 1 0 0");
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.isClean()).isTrue();
    assertThat(checkResult.count(EventKind.HOLDS)).isEqualTo(2);
  }

  @Test
  void givenHoldThatBeginsWhileAnotherStillSeesItsLeaseValid_thenExclusionIsBroken() {
    CheckResult checkResult =
        check("10/20 G 1001 hot-0 1 7 0", "90 S 1001 hot-0 1 7 0", "25/35 G 2001 hot-0 1 8 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.EXCLUSION);
  }

  @Test
  void givenTheSameAfterTheStoreForgot_thenItWasForetold() {
    CheckResult checkResult =
        check(
            "5 F 0 forget 0 0 0",
            "6 H 0 forget 0 0 0",
            "10/20 G 1001 hot-0 1 7 0",
            "90 S 1001 hot-0 1 7 0",
            "25/35 G 2001 hot-0 1 8 0");
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.expectedViolations()).isEqualTo(Map.of("forget", 1L));
  }

  /**
   * Checks a lock that is passed on within its process after another process was granted it anew.
   */
  private CheckResult checkPassAfterTheStoreForgot(long token) {
    return check(
        "10/20 G 1001 hot-0 1 7 0",
        "50 F 0 forget 0 0 0",
        "51 H 0 forget 0 0 0",
        "52/55 G 2001 hot-0 1 100 0",
        "58 A 1002 hot-0 1 0 0",
        "60 R 1001 hot-0 1 0 0",
        "61 G 1002 hot-0 1 " + token + " 0",
        "62 X 1002 hot-0 1 " + token + " 1");
  }

  @Test
  void givenProcessThatDoesNotKnowYetThatTheStoreForgot_thenItsOldTokensWereForetold() {
    CheckResult checkResult = checkPassAfterTheStoreForgot(8);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.expectedViolations()).isEqualTo(Map.of("forget", 2L));
  }

  @Test
  void givenTokenThatWasNotPassedOn_whenItIsSmallAfterTheStoreForgot_thenTokensDoNotRise() {
    assertThat(rules(checkPassAfterTheStoreForgot(9)))
        .containsExactly(SafetyRule.RISING_TOKENS, SafetyRule.NO_RIGHTFUL_REFUSAL);
  }

  @Test
  void givenTwoHoldsWithOneToken_thenTheyAreNotUnique() {
    CheckResult checkResult = check("10/20 G 1001 hot-0 1 7 0", "15/35 G 2001 hot-0 1 7 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.UNIQUE_TOKENS);
  }

  @Test
  void givenSmallerTokenForWhoAskedLater_thenTokensDoNotRise() {
    CheckResult checkResult = check("10/20 G 1001 hot-0 1 7 0", "30/35 G 2001 hot-0 1 6 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.RISING_TOKENS);
  }

  @Test
  void givenFewerUpdatesThanWereTaken_thenOneWasLost() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "21 W 1001 hot-0 1 7 0",
            "22 W 1001 hot-0 1 7 0",
            "99 V 0 hot-0 0 1 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.NO_LOST_UPDATE);
  }

  @Test
  void givenControlsThatLoseUpdates_thenTheyAreLoud_andNothingElseIsSaid() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 open-0 1 7 0",
            "21 W 1001 open-0 1 0 0",
            "99 V 0 open-0 0 0 0",
            "10/20 G 1002 naive-0 1 0 0",
            "90 S 1002 naive-0 1 0 0",
            "10/30 G 2002 naive-0 1 0 0");
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.controlsAreLoud()).isTrue();
  }

  @Test
  void givenRefusedWriteOfAValidHolder_thenItWasNotRightful() {
    CheckResult checkResult =
        check("10/20 G 1001 hot-0 1 7 0", "21 X 1001 hot-0 1 7 1", "25 X 1001 hot-0 1 7 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.NO_RIGHTFUL_REFUSAL);
  }

  @Test
  void givenBusyWhereNobodyHolds_thenItWasALie() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "40 R 1001 hot-0 1 0 0",
            "30/45 B 2001 hot-0 1 0 0",
            "50/55 B 2001 hot-0 2 0 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.HONEST_BUSY);
    assertThat(checkResult.findings().get(0).nanos()).isEqualTo(55);
  }

  @Test
  void givenBusyWhileAGrantMayBeIdle_thenItWasALie_unlessItsHolderWasWaitedFor() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 sticky-0 1 7 0",
            "30 R 1001 sticky-0 1 0 0",
            "100/50000100 B 2001 sticky-0 1 0 0",
            "50000200/50000300 B 2002 sticky-0 1 0 0",
            "60000200/60000300 B 3001 sticky-0 1 0 0",
            "6000000000/6100000000 B 2001 sticky-0 2 0 0");
    // One did not wait; the other came when there was no idle grant any more.
    assertThat(rules(checkResult)).containsExactly(SafetyRule.HONEST_BUSY, SafetyRule.HONEST_BUSY);
    assertThat(checkResult.figures().cycles()).containsEntry(HistoryChecker.UNANSWERED, 2L);
  }

  @Test
  void givenBusyAfterSomebodyWasKilledThatHeldOrAsked_thenItWasALieOnceTwoTtlsAreOver() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "15 A 1002 hot-1 1 0 0",
            "40 F 1000 kill 0 0 0",
            "40 K 1000 - 0 0 0",
            "45 H 1000 kill 0 0 0",
            "50/55 B 2001 hot-0 1 0 0",
            "60/65 B 2001 hot-1 2 0 0",
            "2050/2055 B 2001 hot-0 3 0 0",
            "2060/2065 B 2001 hot-1 4 0 0",
            "2070/2071 G 2001 hot-0 5 8 0",
            "2072/2073 G 2002 hot-1 1 8 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.HONEST_BUSY, SafetyRule.HONEST_BUSY);
    assertThat(checkResult.findings())
        .extracting(HistoryViolation::nanos)
        .containsExactly(2055L, 2065L);
  }

  @Test
  void givenBusyAfterReleaseThatMayHaveBeenLost_thenItWasNoLieForTwoTtls() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 own-1001 1 7 0",
            "30 F 1000 lost-requests 0 0 0",
            "40 S 1001 own-1001 1 0 0",
            "45 H 1000 lost-requests 0 0 0",
            "50 R 1001 own-1001 1 0 0",
            "60/65 B 1001 own-1001 2 0 0",
            "2060/2065 B 1001 own-1001 3 0 0",
            "10/20 G 1002 own-1002 1 7 0",
            "25 E 1002 own-1002 1 0 0",
            "26/27 B 1002 own-1002 2 0 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.HONEST_BUSY);
    assertThat(checkResult.findings().get(0).nanos()).isEqualTo(2065);
  }

  @Test
  void givenBusyAfterReleaseDuringWhichTheProcessLostItsLeases_thenItWasNoLieForTwoTtls() {
    CheckResult checkResult =
        check(
            "10/20 G 1002 own-1002 1 8 0",
            "30/40 G 1001 own-1001 1 7 0",
            "50 S 1001 own-1001 1 7 0",
            "1500 E 1002 own-1002 1 0 0",
            "1510 R 1001 own-1001 1 0 0",
            "1520/1530 B 1001 own-1001 2 0 0",
            "3600/3610 B 1001 own-1001 3 0 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.HONEST_BUSY);
    assertThat(checkResult.findings().get(0).nanos()).isEqualTo(3610);
  }

  @Test
  void givenFairLock_whenTheOvertakenOnesProcessLostItsLeases_thenItHadLostItsPlace() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 fair-0 1 7 0",
            "25/26 G 2002 own-2002 1 7 0",
            "30 A 2001 fair-0 1 0 0",
            "40 Q 2001 fair-0 1 0 0",
            "45 E 2002 own-2002 1 0 0",
            "50 A 3001 fair-0 1 0 0",
            "60 R 1001 fair-0 1 0 0",
            "70 G 3001 fair-0 1 8 0",
            "80 R 3001 fair-0 1 0 0",
            "90 G 2001 fair-0 1 9 0");
    assertThat(checkResult.findings()).isEmpty();
  }

  @Test
  void givenWaiterThatIsServedLongAfterTheHolderWasKilled_thenThatWasTooLate() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "30 A 2001 hot-0 1 0 0",
            "40 F 1000 kill 0 0 0",
            "40 K 1000 - 0 0 0",
            "1600 G 2001 hot-0 1 8 0",
            "45 H 1000 kill 0 0 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.CRASH_RELEASE);
    assertThat(checkResult.figures().longest(SafetyRule.CRASH_RELEASE)).isEqualTo(1560);
  }

  /** Checks a power cut until 60, and much later another hold with the given token. */
  private static CheckResult checkTokenAfterPowerCut(long token) {
    FaultEffect effect = new FaultEffect(DelayBound.STORE, Set.of(SafetyRule.RISING_TOKENS), true);
    return check(
        new HistoryChecker(TTL, PATIENCE, Map.of("power-cut", effect)),
        "10/20 G 1001 hot-0 1 100 0",
        "30 S 1001 hot-0 1 100 0",
        "31 R 1001 hot-0 1 0 0",
        "50 F 0 power-cut 0 0 0",
        "60 H 0 power-cut 0 0 0",
        "9000/9010 G 1001 hot-0 2 101 0",
        "9020 S 1001 hot-0 2 101 0",
        "9021 R 1001 hot-0 2 0 0",
        "9030/9040 G 2001 hot-0 1 " + token + " 0");
  }

  @Test
  void givenTokensThatWereSetBack_whenOneIsBelowWhereTheyHadBeen_thenThatWasForetold() {
    CheckResult checkResult = checkTokenAfterPowerCut(99);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.expectedViolations()).containsEntry("power-cut", 1L);
  }

  @Test
  void givenTokensThatHaveComeByWhereTheyHadBeen_whenOneIsGivenOutAgain_thenThatIsFound() {
    assertThat(rules(checkTokenAfterPowerCut(101))).containsExactly(SafetyRule.UNIQUE_TOKENS);
  }

  private static CheckResult checkObserved(long served) {
    return check(
        new HistoryChecker(TTL, TTL.multipliedBy(2), PATIENCE, EFFECTS),
        "10/20 G 1001 hot-0 1 7 0",
        "25 A 2001 hot-0 1 0 0",
        "40 F 1000 kill 0 0 0",
        "40 K 1000 - 0 0 0",
        served + " G 2001 hot-0 1 8 0",
        "45 H 1000 kill 0 0 0");
  }

  @Test
  void givenStoreWhereOthersWatchAProcess_whenItDies_thenItsLocksAreFreeAfterTwoTtls_notLater() {
    assertThat(checkObserved(40 + 2000 + 500).findings()).isEmpty();
    assertThat(rules(checkObserved(41 + 2000 + 500))).containsExactly(SafetyRule.CRASH_RELEASE);
  }

  @Test
  void givenStoreWithoutTokens_whenAnUpdateIsLost_thenItIsNoFinding_asNothingGuardsTheResource() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 0 0",
            "21 W 1001 hot-0 1 0 0",
            "22 W 1001 hot-0 1 0 0",
            "99 V 0 hot-0 0 1 0");
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.openLosses()).isEqualTo(1);
  }

  /**
   * Checks a waiter killed at 100 during another's hold, which is released at {@code gave}; a third
   * one waits and holds at {@code served}.
   */
  private CheckResult checkKilledWaiter(String lock, String fault, long gave, long served) {
    return check(
        "10 A 1001 " + lock + " 1 0 0",
        "20 G 1001 " + lock + " 1 7 0",
        "30 A 2001 " + lock + " 1 0 0",
        "40 A 3001 " + lock + " 1 0 0",
        "100 F 2000 " + fault + " 0 0 0",
        "100 K 2000 - 0 0 0",
        "110 H 2000 " + fault + " 0 0 0",
        gave - 1 + " S 1001 " + lock + " 1 7 0",
        gave + " R 1001 " + lock + " 1 0 0",
        served + " G 3001 " + lock + " 1 8 0",
        "9000000000 A 3001 " + lock + " 2 0 0",
        "9000000001 G 3001 " + lock + " 2 9 0");
  }

  @Test
  void givenWaiterThatWasKilled_whenTheNextIsServedSoon_thenNothingIsFound_andItIsMeasured() {
    CheckResult checkResult = checkKilledWaiter("queue-0", "kill-waiter", 200, 700);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.figures().longest(SafetyRule.KILLED_WAITER)).isEqualTo(500);
  }

  @Test
  void givenWaiterThatWasKilled_whenTheNextIsServedLongAfterTheRelease_thenThatIsFound() {
    // Soon enough for an ordinary wake-up, but not after a death.
    assertThat(rules(checkKilledWaiter("queue-0", "kill-waiter", 200, 701)))
        .containsExactly(SafetyRule.KILLED_WAITER);
  }

  @Test
  void givenTheSameWhileTheHostRanNobody_thenItIsNotFound() {
    historyChecker.take(HistoryEvent.parse("650 P 3000 - 0 100 0"));
    assertThat(checkKilledWaiter("queue-0", "kill-waiter", 200, 800).findings()).isEmpty();
  }

  @Test
  void
      givenWaiterThatWasKilled_whenTheLockIsGivenBackAtThatMoment_thenItMayHaveHadTheLockForATtl() {
    long half = 500_000_000;
    assertThat(checkKilledWaiter("queue-0", "kill-waiter", 120, 120 + 1500 + half).findings())
        .isEmpty();
  }

  @Test
  void givenWaiterThatWasKilled_whenTheLockIsGivenBackAtThatMoment_thenNotForLongerThanATtl() {
    long half = 500_000_000;
    assertThat(rules(checkKilledWaiter("queue-0", "kill-waiter", 120, 121 + 1500 + half)))
        .containsExactly(SafetyRule.QUEUE);
  }

  @Test
  void givenStoreThatWaitsForSessions_whenAWaiterWasKilled_thenItMayDelayForATtl() {
    long half = 500_000_000;
    assertThat(
            checkKilledWaiter("queue-0", "kill-waiter-by-session", 200, 200 + 1500 + half)
                .findings())
        .isEmpty();
  }

  @Test
  void givenStoreThatWaitsForSessions_whenAWaiterWasKilled_thenNotForLonger() {
    long half = 500_000_000;
    assertThat(
            rules(checkKilledWaiter("queue-0", "kill-waiter-by-session", 200, 201 + 1500 + half)))
        .containsExactly(SafetyRule.QUEUE);
  }

  @Test
  void givenNaiveQueueThatWaitsForTheDead_thenThatControlIsLoud_andNothingElseIsSaid() {
    CheckResult checkResult = checkKilledWaiter("naive-queue-0", "kill-waiter", 200, 1100);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.naiveDelays()).isEqualTo(1);
    assertThat(checkResult.naiveLosses()).isZero();
  }

  @Test
  void givenNaiveQueueThatDoesNotWaitForTheDead_thenThatControlIsSilent() {
    assertThat(checkKilledWaiter("naive-queue-0", "kill-waiter", 200, 700).naiveDelays()).isZero();
  }

  /** Checks a holder killed at 40, and the next one at {@code next}; a third holds at the end. */
  private CheckResult checkChain(String fault, long next, long served) {
    return check(
        "10/20 G 1001 queue-0 1 7 0",
        "30 A 2001 queue-0 1 0 0",
        "35 A 3001 queue-0 1 0 0",
        "40 F 1000 " + fault + " 0 0 0",
        "40 K 1000 - 0 0 0",
        "45 H 1000 " + fault + " 0 0 0",
        next + " F 2000 " + fault + " 0 0 0",
        next + " K 2000 - 0 0 0",
        next + 5 + " H 2000 " + fault + " 0 0 0",
        served + " G 3001 queue-0 1 8 0",
        "9000000000/9000000001 G 3001 queue-0 2 9 0");
  }

  @Test
  void givenHolderThatDies_andAWaiterSoonAfterIt_whenTheNextIsServedTooLate_thenThatIsFound() {
    long bound = 40 + 1500 + 500_000_000;
    assertThat(rules(checkChain("kill-waiter", 600, bound + 1))).containsExactly(SafetyRule.QUEUE);
  }

  @Test
  void givenHolderThatDies_andAWaiterSoonAfterIt_whenTheNextIsServedInTime_thenNothingIsFound() {
    long bound = 40 + 1500 + 500_000_000;
    assertThat(checkChain("kill-waiter", 600, bound).findings()).isEmpty();
  }

  @Test
  void givenHolderThatDies_andOneThatTheLockMayHaveBeenHandedTo_thenItMayTakeATtlMore() {
    long bound = 905 + 1500 + 500_000_000;
    assertThat(checkChain("kill-waiter", 900, bound).findings()).isEmpty();
  }

  @Test
  void givenHolderThatDies_andOneThatTheLockMayHaveBeenHandedTo_thenNotLonger() {
    long bound = 905 + 1500 + 500_000_000;
    assertThat(rules(checkChain("kill-waiter", 900, bound + 1))).containsExactly(SafetyRule.QUEUE);
  }

  @Test
  void givenLockThatNobodyGetsAfterTheLastFault_thenItDidNotRecover() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "30 R 1001 hot-0 1 0 0",
            "40 F 0 server-pause 0 0 0",
            "50 H 0 server-pause 0 0 0",
            "60 A 2001 hot-0 1 0 0",
            "65 O 2001 hot-0 1 0 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.RECOVERY);
  }

  @Test
  void givenLockThatNobodyWantsAfterTheLastFault_thenNothingIsSaidOfIt() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "30 R 1001 hot-0 1 0 0",
            "40 F 0 server-pause 0 0 0",
            "50 H 0 server-pause 0 0 0");
    assertThat(checkResult.findings()).isEmpty();
  }

  @Test
  void givenHolderInTheStoreAtTheEnd_thenItLeaked() {
    CheckResult checkResult =
        check("10 A 1001 hot-0 1 0 0", "20 G 1001 hot-0 1 7 0", "90 Z 0 hot-0 0 0 1");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.NO_LEAK);
  }

  /** Checks a hold released at 40, with a waiter that holds at {@code served}. */
  private CheckResult checkHandOff(long served, String... more) {
    for (String line :
        List.of(
            "10/20 G 1001 hot-0 1 7 0",
            "30 A 2001 hot-0 1 0 0",
            "40 R 1001 hot-0 1 0 0",
            served + " G 2001 hot-0 1 8 0")) {
      take(historyChecker, line);
    }
    return check(more);
  }

  @Test
  void givenWaiterThatIsServedInTime_thenNothingIsFound_andItIsMeasured() {
    CheckResult checkResult = checkHandOff(800);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.figures().longest(SafetyRule.WAKE_UP)).isEqualTo(760);
  }

  @Test
  void givenWaiterThatIsServedLongAfterTheLockWasGivenBack_thenItWasWokenTooLate() {
    assertThat(rules(checkHandOff(900))).containsExactly(SafetyRule.WAKE_UP);
  }

  /**
   * Checks a lock that each of a crowd releases at once, and that the next has after {@code gap}.
   */
  private CheckResult checkCrowd(int waiters, long gap, long delay) {
    List<String> lines = new ArrayList<>(List.of("10 A 1001 crowd-0 1 0 0"));
    lines.add("20 G 1001 crowd-0 1 7 0");
    long free = 40;
    for (int i = 0; i < waiters; i++) {
      lines.add("30 A " + (2001 + i) + " crowd-0 1 0 0");
    }
    lines.add("40 R 1001 crowd-0 1 0 0");
    for (int i = 0; i < waiters; i++) {
      lines.add(free + gap + " G " + (2001 + i) + " crowd-0 1 " + (8 + i) + " 0");
      free += gap + 1;
      lines.add(free + " R " + (2001 + i) + " crowd-0 1 0 0");
    }
    lines.forEach(line -> take(historyChecker, line));
    return historyChecker.check(true, Duration.ofNanos(delay));
  }

  @Test
  void givenACrowd_whenEachIsServedSoonAfterTheOneBefore_thenNothingIsFound() {
    CheckResult checkResult = checkCrowd(300, 100, 0);
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.figures().longest(SafetyRule.WAKE_UP)).isEqualTo(100);
  }

  @Test
  void givenACrowd_whenReleasesStandBehindItsPolls_thenTheyWereWokenTooLate() {
    assertThat(rules(checkCrowd(300, 900, 0))).contains(SafetyRule.WAKE_UP);
  }

  @Test
  void givenACrowdThatMayBeDelayed_whenItWaitsNoLonger_thenNothingIsFound() {
    assertThat(checkCrowd(300, 900, 100).findings()).isEmpty();
  }

  @Test
  void givenACrowdThatMayBeDelayed_whenItWaitsLongerStill_thenItWasWokenTooLate() {
    assertThat(rules(checkCrowd(300, 1_000, 100))).contains(SafetyRule.WAKE_UP);
  }

  @Test
  void givenTheSameWhileTheHostRanNobody_thenNothingIsFound() {
    assertThat(checkHandOff(900, "850 P 2000 - 0 200 0").findings()).isEmpty();
  }

  @Test
  void givenWaiterThatGivesUpThoughNobodyHolds_thenItWasWokenTooLate() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "40 R 1001 hot-0 1 0 0",
            "50 A 2001 hot-0 1 0 0",
            "2000 T 2001 hot-0 1 0 0",
            "2100/2110 G 3001 hot-0 1 8 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.WAKE_UP);
  }

  @Test
  void givenLostReplies_whenALockIsShutForLongerThanAThirdOfATtlAfterwards_thenThatIsTooLong() {
    String[] fault = {"35 F 3000 lost-replies 0 0 0", "400 H 3000 lost-replies 0 0 0"};
    assertThat(rules(checkHandOff(1300, fault))).containsExactly(SafetyRule.LOST_WORD);
  }

  @Test
  void givenLostReplies_whenALockIsFreeWithinAThirdOfATtlAfterwards_thenNothingIsFound() {
    String[] fault = {"35 F 3000 lost-replies 0 0 0", "400 H 3000 lost-replies 0 0 0"};
    assertThat(checkHandOff(1200, fault).findings()).isEmpty();
  }

  @Test
  void givenSlowClient_whenALockIsShutForLongerThanATtl_thenThatIsTooLong() {
    String[] fault = {"35 F 3000 slow 0 0 0", "1500 H 3000 slow 0 0 0"};
    assertThat(rules(checkHandOff(1600, fault))).containsExactly(SafetyRule.SLOW);
  }

  /** Checks a holder paused from 40 to 2540, and a waiter that holds then. */
  private CheckResult checkStop(String fault, long served) {
    return check(
        "10/20 G 1001 hot-0 1 7 0",
        "30 A 2001 hot-0 1 0 0",
        "40 F 1000 " + fault + " 0 0 0",
        served + " G 2001 hot-0 1 8 0",
        "2540 H 1000 " + fault + " 0 0 0",
        "2550 E 1001 hot-0 1 0 0",
        "9000000000/9000000001 G 1001 hot-0 2 9 0");
  }

  @Test
  void givenHolderThatIsStopped_whenItsLockIsFreeTooLate_thenThatIsFound() {
    assertThat(rules(checkStop("pause", 1600))).containsExactly(SafetyRule.CRASH_RELEASE);
  }

  @Test
  void givenHolderThatHoldsUpTheStore_whenItsLockIsFreeAfterItGoesOn_thenNothingIsFound() {
    long half = 500_000_000;
    assertThat(checkStop("pause-in-a-transaction", 2540 + 1500 + half).findings()).isEmpty();
  }

  @Test
  void givenHolderThatHoldsUpTheStore_whenItsLockIsFreeTooLateAfterThat_thenThatIsFound() {
    long half = 500_000_000;
    assertThat(rules(checkStop("pause-in-a-transaction", 2540 + 1501 + half)))
        .containsExactly(SafetyRule.RETURN);
  }

  @Test
  void givenStoreThatComesBack_whenLocksDoNotWorkInTime_thenThatIsFound() {
    String[] fault = {"35 F 0 server-pause 0 0 0", "2500 H 0 server-pause 0 0 0"};
    long half = 500_000_000;
    assertThat(checkHandOff(2500 + 1500 + half, fault).findings()).isEmpty();
  }

  @Test
  void givenStoreThatComesBack_whenLocksWorkTooLate_thenThatIsFound() {
    String[] fault = {"35 F 0 server-pause 0 0 0", "2500 H 0 server-pause 0 0 0"};
    long half = 500_000_000;
    assertThat(rules(checkHandOff(2500 + 1501 + half, fault))).containsExactly(SafetyRule.RETURN);
  }

  @Test
  void givenBusyWhileTheStoreCouldNotBeReached_thenItWasALie_unlessTheProcessHeldItself() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 hot-0 1 7 0",
            "30 F 0 server-pause 0 0 0",
            "31 D 0 server-pause 0 0 0",
            "40/50 B 2001 hot-0 1 0 0",
            "40/50 B 1002 hot-0 1 0 0",
            "60 U 0 server-pause 0 0 0",
            "61 H 0 server-pause 0 0 0",
            "70 R 1001 hot-0 1 0 0",
            "71/72 G 1001 hot-0 2 9 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.OUTAGE);
    assertThat(checkResult.findings().get(0).text()).contains("worker 2001");
  }

  @Test
  void givenFairLock_whenOneInTheQueueIsOvertaken_thenThatIsFound_andOthersAreNot() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 fair-0 1 7 0",
            "30 A 2001 fair-0 1 0 0",
            "40 Q 2001 fair-0 1 0 0",
            "50 A 3001 fair-0 1 0 0",
            "60 R 1001 fair-0 1 0 0",
            "70 G 3001 fair-0 1 8 0",
            "80 R 3001 fair-0 1 0 0",
            "90 G 2001 fair-0 1 9 0");
    assertThat(rules(checkResult)).containsExactly(SafetyRule.FIFO);
    assertThat(checkResult.figures().inOrder()).isEqualTo(1);
  }

  @Test
  void givenFairLock_whenWhoAskedLaterMayHaveQueuedFirst_thenNothingIsFound() {
    CheckResult checkResult =
        check(
            "10/20 G 1001 fair-0 1 7 0",
            "30 A 2001 fair-0 1 0 0",
            "35 A 3001 fair-0 1 0 0",
            "40 Q 2001 fair-0 1 0 0",
            "60 R 1001 fair-0 1 0 0",
            "70 G 3001 fair-0 1 8 0",
            "80 R 3001 fair-0 1 0 0",
            "90 G 2001 fair-0 1 9 0");
    assertThat(checkResult.findings()).isEmpty();
  }

  @Test
  void givenWorkerThatWritesNothingDownAndSawAPromiseBroken_thenItIsHeard() {
    assertThat(rules(check("10 ! 1001 RISING_TOKENS 0 7 0")))
        .containsExactly(SafetyRule.RISING_TOKENS);
  }

  @Test
  void givenCyclesThatWereCounted_thenTheyAddUp() {
    CheckResult checkResult = check("10 N 1001 local 0 700 0", "11 N 2001 local 0 70 0");
    assertThat(checkResult.figures().cycles()).isEqualTo(Map.of("local", 770L));
  }

  @Test
  void givenLeaseThatIsLostThoughNothingWasWrong_thenItIsCounted_andExcusesADelayOfATtl() {
    CheckResult checkResult = checkHandOff(1500, "45 L 3001 hot-1 1 0 0");
    assertThat(checkResult.findings()).isEmpty();
    assertThat(checkResult.figures().unexplained()).isEqualTo(1);
  }

  /** Checks two processes, of which the second is starved after a while; with further events. */
  private CheckResult checkStarving(String... more) {
    return check(starving(more));
  }

  private static String[] starving(String... more) {
    List<String> lines = new ArrayList<>(List.of(more));
    for (int i = 0; i < 40; i++) {
      long now = 1_000L * i;
      lines.add(now + 1 + " A 1001 own-1001 " + (i + 1) + " 0 0");
      lines.add(now + 2 + " G 1001 own-1001 " + (i + 1) + " " + (i + 1) + " 0");
      lines.add(now + 3 + " R 1001 own-1001 " + (i + 1) + " 0 0");
      lines.add(now + 4 + " A 2001 own-2001 " + (i + 1) + " 0 0");
      if (i < 10) {
        lines.add(now + 5 + " G 2001 own-2001 " + (i + 1) + " " + (i + 1) + " 0");
        lines.add(now + 6 + " R 2001 own-2001 " + (i + 1) + " 0 0");
      } else {
        lines.add(now + 900 + " T 2001 own-2001 " + (i + 1) + " 0 0");
      }
    }
    return lines.toArray(String[]::new);
  }

  @Test
  void givenProcessThatGetsNothingWhileOthersDo_thenThatIsFound() {
    assertThat(rules(checkStarving())).containsExactly(SafetyRule.PROGRESS);
  }

  @Test
  void givenTheSameOnAStoreThatServesNotAll_thenItIsCounted() {
    for (String line : starving()) {
      take(historyChecker, line);
    }
    CheckResult result = historyChecker.check(false, Duration.ZERO);
    assertThat(result.isClean()).isTrue();
    assertThat(result.figures().cycles()).containsEntry(HistoryChecker.UNSERVED, 1L);
  }

  @Test
  void givenTheSameWhenItWasCutOff_thenNothingIsFound() {
    assertThat(checkStarving("10000 F 2000 cut-off 0 0 0", "39000 H 2000 cut-off 0 0 0").findings())
        .isEmpty();
  }

  @Test
  void givenTheSameWhenItWasKilled_thenNothingIsFound() {
    assertThat(checkStarving("15000 K 2000 0 0 0 0").findings()).isEmpty();
  }
}
