package io.mortise.torture.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.torture.history.Finding.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Histories written by hand, each with one thing wrong, which has to be found. */
class CheckerTest {
  private static final Duration TTL = Duration.ofNanos(1_000);
  private static final Duration PATIENCE = Duration.ofNanos(500);

  private final Checker checker = new Checker(TTL, PATIENCE, Set.of("forget"));

  /** Lines without worker's zeros: {@code nanos letter worker lock try token more}. */
  private Verdict check(String... lines) {
    for (String line : lines) {
      checker.take(Event.parse(line));
    }
    return checker.check();
  }

  private static List<Rule> rules(Verdict verdict) {
    return verdict.findings().stream().map(Finding::rule).toList();
  }

  @Test
  void givenHoldsOneAfterTheOther_thenNothingIsFound() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "30 S 1001 hot-0 1 7 0",
            "40 R 1001 hot-0 1 0 0",
            "25 A 2001 hot-0 1 0 0",
            "35 G 2001 hot-0 1 8 0",
            "36 S 2001 hot-0 1 8 0",
            "37 R 2001 hot-0 1 0 0");
    assertThat(verdict.findings()).isEmpty();
    assertThat(verdict.isClean()).isTrue();
    assertThat(verdict.count(Kind.HOLDS)).isEqualTo(2);
  }

  @Test
  void givenHoldThatBeginsWhileAnotherStillSeesItsLeaseValid_thenExclusionIsBroken() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "90 S 1001 hot-0 1 7 0",
            "25 A 2001 hot-0 1 0 0",
            "35 G 2001 hot-0 1 8 0");
    assertThat(rules(verdict)).containsExactly(Rule.EXCLUSION);
  }

  @Test
  void givenTheSameAfterTheStoreForgot_thenItWasForetold() {
    Verdict verdict =
        check(
            "5 F 0 forget 0 0 0",
            "6 H 0 forget 0 0 0",
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "90 S 1001 hot-0 1 7 0",
            "25 A 2001 hot-0 1 0 0",
            "35 G 2001 hot-0 1 8 0");
    assertThat(verdict.findings()).isEmpty();
    assertThat(verdict.foretold()).isEqualTo(1);
  }

  @Test
  void givenTwoHoldsWithOneToken_thenTheyAreNotUnique() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "15 A 2001 hot-0 1 0 0",
            "35 G 2001 hot-0 1 7 0");
    assertThat(rules(verdict)).containsExactly(Rule.UNIQUE_TOKENS);
  }

  @Test
  void givenSmallerTokenForWhoAskedLater_thenTokensDoNotRise() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "30 A 2001 hot-0 1 0 0",
            "35 G 2001 hot-0 1 6 0");
    assertThat(rules(verdict)).containsExactly(Rule.RISING_TOKENS);
  }

  @Test
  void givenFewerUpdatesThanWereTaken_thenOneWasLost() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "21 W 1001 hot-0 1 7 0",
            "22 W 1001 hot-0 1 7 0",
            "99 V 0 hot-0 0 1 0");
    assertThat(rules(verdict)).containsExactly(Rule.NO_LOST_UPDATE);
  }

  @Test
  void givenControlsThatLoseUpdates_thenTheyAreLoud_andNothingElseIsSaid() {
    Verdict verdict =
        check(
            "10 A 1001 open-0 1 0 0",
            "20 G 1001 open-0 1 7 0",
            "21 W 1001 open-0 1 0 0",
            "99 V 0 open-0 0 0 0",
            "10 A 1002 naive-0 1 0 0",
            "20 G 1002 naive-0 1 0 0",
            "90 S 1002 naive-0 1 0 0",
            "10 A 2002 naive-0 1 0 0",
            "30 G 2002 naive-0 1 0 0");
    assertThat(verdict.findings()).isEmpty();
    assertThat(verdict.controlsAreLoud()).isTrue();
  }

  @Test
  void givenRefusedWriteOfAValidHolder_thenItWasNotRightful() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "21 X 1001 hot-0 1 7 1",
            "25 X 1001 hot-0 1 7 0");
    assertThat(rules(verdict)).containsExactly(Rule.NO_RIGHTFUL_REFUSAL);
  }

  @Test
  void givenBusyWhereNobodyHolds_thenItWasALie() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "40 R 1001 hot-0 1 0 0",
            "30 A 2001 hot-0 1 0 1",
            "45 B 2001 hot-0 1 0 0",
            "50 A 2001 hot-0 2 0 1",
            "55 B 2001 hot-0 2 0 0");
    assertThat(rules(verdict)).containsExactly(Rule.HONEST_BUSY);
    assertThat(verdict.findings().get(0).nanos()).isEqualTo(55);
  }

  @Test
  void givenWaiterThatIsServedLongAfterTheHolderWasKilled_thenThatWasTooLate() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "30 A 2001 hot-0 1 0 0",
            "40 F 1000 kill 0 0 0",
            "40 K 1000 - 0 0 0",
            "1600 G 2001 hot-0 1 8 0",
            "45 H 1000 kill 0 0 0");
    assertThat(rules(verdict)).containsExactly(Rule.CRASH_RELEASE);
    assertThat(verdict.slowestCrashNanos()).isEqualTo(1560);
  }

  @Test
  void givenLockThatNobodyGetsAfterTheLastFault_thenItDidNotRecover() {
    Verdict verdict =
        check(
            "10 A 1001 hot-0 1 0 0",
            "20 G 1001 hot-0 1 7 0",
            "30 R 1001 hot-0 1 0 0",
            "40 F 0 server-pause 0 0 0",
            "50 H 0 server-pause 0 0 0");
    assertThat(rules(verdict)).containsExactly(Rule.RECOVERY);
  }

  @Test
  void givenHolderInTheStoreAtTheEnd_thenItLeaked() {
    Verdict verdict = check("10 A 1001 hot-0 1 0 0", "20 G 1001 hot-0 1 7 0", "90 Z 0 hot-0 0 0 1");
    assertThat(rules(verdict)).containsExactly(Rule.NO_LEAK);
  }
}
