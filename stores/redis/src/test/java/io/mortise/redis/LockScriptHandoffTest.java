package io.mortise.redis;

import static io.mortise.redis.LockScriptRunner.abandon;
import static io.mortise.redis.LockScriptRunner.acquire;
import static io.mortise.redis.LockScriptRunner.adjust;
import static io.mortise.redis.LockScriptRunner.attempt;
import static io.mortise.redis.LockScriptRunner.many;
import static io.mortise.redis.LockScriptRunner.plain;
import static io.mortise.redis.LockScriptRunner.session;
import static io.mortise.redis.LockScriptRunner.share;
import static io.mortise.redis.LockScriptRunner.wide;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.redis.LockScriptRunner.ScriptResult;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The exact answers of {@code lock.lua} and the keys it leaves, in unusual hand-offs: other than by
 * a plain release, at the very moment of an expiry, and on a full server.
 */
class LockScriptHandoffTest extends LockScriptFixture {

  private static String close(String attempt) {
    return "v" + attempt + "C";
  }

  private static String breakUp(String attempt) {
    return "v" + attempt + "B";
  }

  @Test
  void givenDeadHolders_whenSwept_thenTheyAreCounted_andWhoWaitsHasTheLock() {
    run(share(A), share(B), acquire(C));
    assertThat(ask("s")).isEqualTo("#0000000");
    lives('A', 1);
    assertThat(ask("s")).isEqualTo("#0000000");
    lives('A', 0);
    lives('B', 0);
    ScriptResult swept = run("s");
    assertThat(swept.answer()).isEqualTo("#0000002");
    assertThat(swept.told()).hasSize(1).first().asString().contains(" G" + C);
    assertThat(swept.at("l:k")).contains(C);
    assertThat(swept.at("q:k") + swept.at("o:k") + swept.at("d:k")).isEmpty();
    assertThat(ask("s")).isEqualTo("#0000000");
    assertThat(run("other:s").answer()).isEqualTo("#0000000");
  }

  @Test
  void givenStrictExpiry_thenASweepEndsOnlyWhatHasNoBeatEither() {
    String beat = P + "b:" + session('A');
    run(acquire(A));
    lives('A', 0);
    script.raw("SET", beat, "1");
    assertThat(ask("sb")).isEqualTo("#0000000");
    script.raw("DEL", beat);
    assertThat(ask("sb")).isEqualTo("#0000001");
    lives('A', TTL);
    run(acquire(attempt('A', 2)));
    script.raw("SET", beat, "1");
    lives('A', 0);
    assertThat(ask("s")).as("not strict").isEqualTo("#0000001");
  }

  @Test
  void givenLockThatIsShut_whenReopened_thenWhoWaitsHasIt_andItIsShutNoLonger() {
    long first = script.now;
    run(acquire(A, 1, 3, 0, 500), abandon(A));
    assertThat(run("o").at("l:k")).endsWith("0".repeat(32));
    assertThat(ask("o")).isEqualTo("#0000000");
    assertThat(run("other:o").answer()).isEqualTo("#0000000");
    run(acquire(attempt('A', 2), 1, 3, 0, 500), abandon(attempt('A', 2)));
    assertThat(ask(acquire(B, 1, 3, 0, 0))).startsWith("Q");
    script.now = first + 499;
    ScriptResult reopened = run("o");
    assertThat(reopened.answer()).isEqualTo("#0000001");
    assertThat(reopened.told()).hasSize(1);
    assertThat(reopened.at("q:k")).isEmpty();
  }

  @Test
  void givenLockThatWasShutUntilNow_thenItIsOpenAlready() {
    run(acquire(A, ALL, ALL, 0, 500), abandon(A));
    script.now += 500;
    assertThat(ask("o")).isEqualTo("#0000000");
  }

  @Test
  void givenHoldThatIsNarrowed_thenWhoFitsHasTheRest_andATokenIsMintedIfAsked() {
    run(acquire(A, 3, 3, 0, 0), acquire(B, 2, 3, 0, 0));
    ScriptResult narrowed = run(adjust(A, 0, 1, 3, 0, 0, 0));
    long token = script.now;
    assertThat(narrowed.answer()).isEqualTo("G" + wide(token) + "00011");
    assertThat(narrowed.told()).hasSize(1).first().asString().contains(" G" + B);
    assertThat(ask(adjust(A, 1, 1, 3, 0, 0, 0))).isEqualTo("G" + wide(token + 2) + "00011");
    assertThat(ask(adjust(A, 1_234, 1, 3, 0, 0, 0))).isEqualTo("G" + wide(token + 3) + "12341");
  }

  @Test
  void givenHoldThatWasEvictedOrIsOver_thenItIsNotAdjusted() {
    run(acquire(A), close(A));
    assertThat(ask(adjust(A, 1, ALL, ALL, 0, 0, 0))).isEqualTo("N");
    reset();
    run(acquire(A, ALL, ALL, 500, 0));
    script.now += 500;
    assertThat(ask(adjust(A, 1, ALL, ALL, 0, 0, 0))).isEqualTo("N");
  }

  /** All of the sixteen digits count. */
  @Test
  void givenTimesOfDecades_thenTheyAreKept() {
    long decades = 2_000_000_000_000_000L;
    long first = script.now;
    ScriptResult taken = run(acquire(A, ALL, ALL, decades + 1, decades + 2));
    assertThat(taken.at("l:k")).contains(wide(first + decades + 1) + wide(first + decades + 2));
    reset();
    run(acquire(A));
    ScriptResult adjusted = run(adjust(A, 0, ALL, ALL, decades + 3, decades + 4, 0));
    assertThat(adjusted.at("l:k")).contains(wide(first + decades + 3) + wide(first + decades + 4));
    assertThat(ask(adjust(A, 1, ALL, ALL, 0, 0, 3 * decades / 2)))
        .startsWith("G" + wide(3 * decades / 2));
  }

  @Test
  void givenHolder_whenEvicted_thenItEndsWithItsSession_andAtOnceIfThatIsDead() {
    long first = script.now;
    run(acquire(A, ALL, ALL, 0, 500));
    ScriptResult closed = run(close(A));
    assertThat(closed.answer()).isEqualTo("EV0");
    assertThat(closed.at("l:k"))
        .contains(wide(first) + wide(first + TTL * 1_000) + wide(0) + "1" + wide(0));
    reset();
    lives('A', 1);
    run(acquire(A), acquire(B));
    ScriptResult soon = run(close(A));
    assertThat(soon.at("l:k")).as("it lives yet").contains(A, wide(first + 1_000));
    lives('A', 0);
    ScriptResult dead = run(close(A));
    assertThat(dead.answer()).isEqualTo("EV0");
    assertThat(dead.told()).hasSize(1).first().asString().contains(" G" + B);
  }

  @Test
  void givenHolder_whenBroken_thenTheLockIsNotShut_andWhoWaitsHasIt() {
    run(acquire(A, 1, 3, 0, 500), acquire(B, 3, 3, 0, 0));
    ScriptResult broken = run(breakUp(A));
    assertThat(broken.answer()).isEqualTo("EV0");
    assertThat(String.join("\n", broken.told())).contains(" X" + A, " G" + B);
    assertThat(broken.at("l:k").substring(77, 93)).isEqualTo("0".repeat(16));
  }

  @Test
  void givenRequestAtItsDeadline_thenItRuns_andNotAfterIt() {
    run(acquire(B, 1, 3, 0, 0));
    script.grace = 0;
    assertThat(ask(acquire(A, 1, 3, 0, 0))).startsWith("G");
    assertThat(ask(adjust(A, 0, 1, 3, 0, 0, 0))).startsWith("G");
    script.grace = -1;
    assertThat(ask(acquire(C, 1, 3, 0, 0))).isEqualTo("L" + wide(script.now));
    assertThat(ask(adjust(A, 0, 1, 3, 0, 0, 0))).isEqualTo("L" + wide(script.now));
  }

  @Test
  void givenFullServer_thenWhatTakesIsRefused_andChangesNothing() {
    run(acquire(A));
    script.fill();
    ScriptResult before = run("other:o");
    ScriptResult refused = run(acquire(B));
    assertThat(refused.answer()).isEqualTo("F");
    assertThat(refused.keys()).isEqualTo(before.keys());
    assertThat(run("other:" + acquire(B)).answer()).isEqualTo("F");
    assertThat(ask(acquire(A))).as("who has it").startsWith("G");
  }

  /** Operations that release, or that are answered to the holder. */
  @ParameterizedTest
  @ValueSource(strings = {"r", "j", "vC", "vB", "s", "o", "over", "poll"})
  void givenFullServer_thenWhatGivesBackIsDone(String operation) {
    run(acquire(A, 1, 3, 500, 0), acquire(B, 3, 3, 0, 0));
    String asked =
        switch (operation) {
          case "r" -> abandon(A);
          case "j" -> adjust(A, 1, 1, 3, 0, 0, 0);
          case "vC" -> close(A);
          case "vB" -> breakUp(A);
          case "s", "o" -> operation;
          default -> acquire(A, 1, 3, 0, 0);
        };
    String expected =
        switch (operation) {
          case "r" -> "ER0";
          case "j", "poll" -> "G";
          case "vC", "vB" -> "EV0";
          case "over" -> "DX";
          default -> "#0000001";
        };
    if (operation.equals("s")) {
      lives('A', 0);
    } else if (operation.equals("over")) {
      script.now += 500;
    } else if (operation.equals("o")) {
      run(adjust(A, 0, 1, 3, 0, 600, 0), abandon(A));
    }
    ScriptResult before = run("other:o");
    script.fill();
    ScriptResult scriptResult = run(asked);
    assertThat(scriptResult.answer()).startsWith(expected);
    if (!operation.equals("poll")) {
      assertThat(scriptResult.keys()).isNotEqualTo(before.keys());
    }
  }

  @Test
  void givenKeysOfAnotherType_thenTheServersErrorIsTold_alsoOfOneThatIsMetLate() {
    String error = "XWRONGTYPE Operation against a key";
    run(share(A), share(B));
    script.raw("SET", P + "o:k", "text");
    assertThat(ask(abandon(A))).startsWith(error);
    reset();
    script.raw("HSET", P + "l:k", "a", "b");
    assertThat(ask(acquire(A))).startsWith(error);
    assertThat(ask(plain(A, true, 1))).startsWith(error);
  }

  /** A short path that has written an entry before it finds out removes it. */
  @Test
  void givenQueueOfAnotherType_thenWhoCannotJoinLeavesNothing() {
    script.raw("SET", P + "q:k", "text");
    run(plain(A, true, 1));
    for (String joining : List.of(plain(B, true, 1), acquire(B))) {
      ScriptResult refused = run(joining);
      assertThat(refused.answer()).startsWith("XWRONGTYPE");
      assertThat(refused.at("d:k")).isEmpty();
    }
  }

  @Test
  void givenDeadBehindMoreHoldersThanAStepLooksAt_thenTheNextSweepEndsThem() {
    run(many('A', 0, 64));
    run(many('B', 64, 70));
    lives('B', 0);
    assertThat(ask("s")).isEqualTo("#0000000");
    assertThat(ask("s")).isEqualTo("#0000006");
  }
}
