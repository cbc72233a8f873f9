package io.mortise.redis;

import static io.mortise.redis.LockScriptRunner.abandon;
import static io.mortise.redis.LockScriptRunner.acquire;
import static io.mortise.redis.LockScriptRunner.attempt;
import static io.mortise.redis.LockScriptRunner.longer;
import static io.mortise.redis.LockScriptRunner.many;
import static io.mortise.redis.LockScriptRunner.plain;
import static io.mortise.redis.LockScriptRunner.session;
import static io.mortise.redis.LockScriptRunner.share;
import static io.mortise.redis.LockScriptRunner.wide;
import static io.mortise.redis.codec.LockCodec.digits;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.redis.LockScriptRunner.ScriptResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The exact answers of {@code lock.lua} to a waiter: its position, when to retry, and the
 * notifications sent. Also with more parties than one step looks at.
 */
class LockScriptWaiterTest extends LockScriptFixture {

  private static String granted(long token) {
    return "G" + wide(token) + "00010";
  }

  /** The answer queued or busy, with this many ahead, to retry after that many µs. */
  private static String waits(char how, int ahead, long again) {
    return how + digits(ahead, 7) + wide(again);
  }

  private static String behind(String holder, long token, long leftMillis) {
    return holder + wide(token) + wide(leftMillis * 1_000);
  }

  private static List<String> wanted(ScriptResult scriptResult) {
    return scriptResult.told().stream().filter(each -> each.contains(" W")).toList();
  }

  @Test
  void givenHolder_thenWhoWaitsAsksAgainWhenTheFirstOfThoseBeforeItEnds() {
    long first = script.now;
    assertThat(ask(acquire(A))).isEqualTo(granted(first));
    lives('B', 5_000);
    String holder = behind(A, first, TTL);
    script.now += 5;
    assertThat(ask(acquire(B))).isEqualTo(waits('Q', 0, 10_001_000) + holder);
    assertThat(ask(acquire(C))).isEqualTo(waits('Q', 1, 5_002_000) + holder);
    assertThat(ask(acquire(D))).isEqualTo(waits('Q', 2, 5_003_000) + holder);
    assertThat(ask(acquire(B))).isEqualTo(waits('Q', 0, 10_001_000) + holder);
    assertThat(ask(acquire(C))).isEqualTo(waits('Q', 1, 5_002_000) + holder);
    lives('B', 1);
    assertThat(ask(acquire(C))).as("it lives yet").isEqualTo(waits('Q', 1, 3_000) + holder);
    lives('C', 0);
    lives('B', 7_000);
    assertThat(ask(acquire(D)))
        .as("the dead in the midst of the queue ends no more")
        .isEqualTo(waits('Q', 2, 7_003_000) + holder);
    assertThat(ask(longer(plain(attempt('A', 2), false, 1))))
        .isEqualTo(waits('B', 0, 10_001_000) + holder);
  }

  @Test
  void givenDeadAtTheQueuesHead_thenTheyAreNotAhead() {
    run(acquire(A), acquire(B), acquire(C));
    lives('B', 0);
    assertThat(ask(acquire(C))).startsWith(waits('Q', 0, 10_001_000));
    run(acquire(attempt('D', 2)));
    lives('C', 0);
    ScriptResult joined = run(acquire(D));
    assertThat(joined.answer()).startsWith(waits('Q', 1, 10_002_000));
    assertThat(joined.at("q:k")).doesNotContain(B, C);
  }

  @Test
  void givenSessionsOfWhichNothingCanBeKnown_thenWhoWaitsAsksAtOnce() {
    long first = script.now;
    run(acquire(A), acquire(B));
    unknown('A');
    assertThat(ask(acquire(B))).isEqualTo(waits('Q', 0, 2_000) + behind(A, first, 1));
    lives('A', TTL);
    unknown('B');
    assertThat(ask(acquire(C)))
        .as("one ahead")
        .isEqualTo(waits('Q', 1, 10_002_000) + behind(A, first, TTL));
    unknown('A');
    ScriptResult closed = run("v" + A + "C");
    assertThat(closed.answer()).isEqualTo("EV0");
    assertThat(closed.at("l:k")).as("ends in 1 ms").contains(wide(first + 1_000));
  }

  private void unknown(char session) {
    String key = P + "s:" + session(session);
    script.raw("DEL", key);
    script.raw("RPUSH", key, "of another type");
  }

  @Test
  void givenLongQueue_thenOnlyTheFirstEightAreAskedWhenTheyEnd() {
    run(acquire(A));
    for (int i = 0; i < 8; i++) {
      run(acquire(attempt('B', i)));
    }
    lives('C', 1_000);
    run(acquire(attempt('C', 8)), acquire(attempt('C', 9)));
    assertThat(ask(acquire(D))).startsWith(waits('Q', 10, 10_011_000));
    List<String> words = new ArrayList<>(List.of("ZADD", P + "q:k"));
    for (int i = 0; i < 10_000; i++) {
      Collections.addAll(words, Long.toString(script.now + 100 + i), attempt('B', 100 + i));
    }
    script.raw(words.toArray(String[]::new));
    assertThat(ask(acquire(attempt('D', 2)))).startsWith(waits('Q', 10_011, 20_001_000));
  }

  @Test
  void givenManyWhoJoinAtOnce_thenTheirTicketsAreInOrder() {
    long first = script.now;
    run(acquire(A));
    ScriptResult joined = run(acquire(D), acquire(C), acquire(B));
    assertThat(joined.at("q:k").split(" "))
        .isEqualTo(
            new String[] {
              D, Long.toString(first), C, Long.toString(first + 1), B, Long.toString(first + 2)
            });
    run(abandon(D), abandon(C), abandon(B));
    ScriptResult again = run(acquire(attempt('C', 2)));
    assertThat(again.at("q:k")).isEqualTo(attempt('C', 2) + " " + first);
  }

  @ParameterizedTest
  @CsvSource({"77, 0, 0, ''", "0, 88, 0, ''", "0, 0, 99, ''", "0, 0, 0, label"})
  void givenWaiterWithOneTerm_thenItHasItWhenItIsGranted(
      int floor, int most, int least, String label) {
    long first = script.now;
    long floorToken = floor == 0 ? 0 : first + floor;
    String asked = acquire(B, ALL, ALL, floorToken, most, least, label);
    run(acquire(A));
    String terms = digits(ALL, 7) + wide(floorToken) + wide(most) + wide(least) + label;
    assertThat(run(asked).at("d:k")).isEqualTo(B + "=w" + wide(first) + "0001" + terms);
    run(abandon(A));
    ScriptResult polled = run(asked);
    assertThat(polled.answer())
        .isEqualTo(granted(Math.max(floorToken, first + 1)) + (most == 0 ? "" : wide(most)));
    assertThat(polled.at("l:k"))
        .contains(wide(most == 0 ? 0 : first + most) + wide(least == 0 ? 0 : first + least))
        .endsWith(label);
  }

  @Test
  void givenPlainWaiter_thenItsEntryIsShort_alsoIfItProvesADeath() {
    long first = script.now;
    run(acquire(A));
    String proving = plain(B, true, 1) + session('D');
    assertThat(run(proving).at("d:k")).isEqualTo(B + "=w" + wide(first) + "0001");
    run(abandon(A));
    assertThat(ask(proving)).isEqualTo(granted(first + 1));
  }

  @Test
  void givenPlainRequestWithAProvenDead_thenItsHoldHasNoTerms() {
    long first = script.now;
    ScriptResult scriptResult = run(plain(A, true, 1) + session('D'));
    assertThat(scriptResult.at("l:k")).isEqualTo("h" + wide(first) + A + "0001");
    assertThat(ask(plain(B, true, 1) + session('A')))
        .as("whose session is proven dead")
        .isEqualTo(granted(first + 1));
  }

  @Test
  void givenLockThatIsShut_thenWhoComesAsksAgainWhenItOpens_andHasItThen() {
    run(acquire(A, ALL, ALL, 0, 500));
    script.now += 100;
    run(abandon(A));
    assertThat(ask(longer(plain(B, false, 1)))).isEqualTo(waits('B', 0, 400 + 1_000));
    script.now += 400;
    assertThat(ask(longer(plain(B, false, 1)))).isEqualTo(granted(script.now));
  }

  @Test
  void givenLockThatOpensNow_andIsHeldBesides_thenTheHolderIsWaitedFor() {
    long first = script.now;
    run(share(B), acquire(A, 1, ALL, 0, 500), abandon(A));
    script.now += 500;
    assertThat(ask(longer(plain(C, false, 1))))
        .isEqualTo(waits('B', 0, 10_001_000) + behind(B, first, TTL));
  }

  @Test
  void givenHoldThatEndsByItself_thenWhoWaitsAsksThen() {
    run(acquire(A, ALL, ALL, 3_000, 0));
    script.now += 1_000;
    assertThat(ask(acquire(B))).startsWith(waits('Q', 0, 2_000 + 1_000));
  }

  @Test
  void givenDeadHolders_thenTheFirstOfThemIsInTheWay() {
    long first = script.now;
    run(share(A), share(B), share(C));
    lives('B', 0);
    lives('C', 0);
    assertThat(ask(acquire(D))).isEqualTo(waits('Q', 0, 1_000) + behind(B, first + 1, 0));
    lives('A', 1);
    assertThat(ask(acquire(D))).isEqualTo(waits('Q', 0, 1_000) + behind(B, first + 1, 0));
  }

  /** Seventy holders share the lock, from three sessions. */
  private void shareWithMany() {
    run(many('A', 0, 30));
    run(many('B', 30, 64));
    run(many('C', 64, 70));
  }

  @Test
  void givenMoreHoldersThanAStepTells_thenTheNextStepTellsTheOthers() {
    shareWithMany();
    assertThat(wanted(run(acquire(D)))).hasSize(64);
    assertThat(wanted(run(acquire(D)))).hasSize(6);
    assertThat(wanted(run(acquire(D)))).isEmpty();
  }

  @Test
  void givenAsManyHoldersAsAStepTells_thenTheirOrderStays() {
    run(many('A', 0, 64));
    String order = run("o").at("o:k");
    ScriptResult joined = run(acquire(D));
    assertThat(wanted(joined)).hasSize(64);
    assertThat(joined.at("o:k")).isEqualTo(order).endsWith(" 64");
  }

  @Test
  void givenDeadAmongMoreHoldersThanAStepLooksAt_thenWhoProvesItFindsThemThere() {
    shareWithMany();
    lives('B', 0);
    String order = run("o").at("o:k");
    ScriptResult joined = run(acquire(D));
    assertThat(joined.answer()).contains(attempt('B', 30));
    assertThat(joined.at("o:k")).isEqualTo(order);
    lives('B', 1);
    ScriptResult again = run(acquire(D));
    assertThat(again.at("o:k")).as("they live").isNotEqualTo(order);
  }

  @Test
  void givenOneOfManyWhoseTimeIsOver_thenAStepLooksAtAsManyAsBefore() {
    run(acquire(attempt('A', 99), 1, ALL, 500, 0));
    shareWithMany();
    script.now += 500;
    ScriptResult joined = run(acquire(D));
    assertThat(wanted(joined)).hasSize(64);
    assertThat(joined.at("d:k")).doesNotContain(attempt('A', 99));
  }

  @Test
  void givenHoldsThatEndOneAfterTheOther_thenTheRecordSaysWhenTheNextEnds() {
    long first = script.now;
    run(acquire(A, 1, ALL, 500, 0), acquire(B, 1, ALL, 900, 0), acquire(C, 1, ALL, 700, 0));
    assertThat(run("o").at("l:k")).endsWith(wide(first + 500));
    script.now += 600;
    ScriptResult joined = run(share(D));
    assertThat(joined.at("l:k")).endsWith(wide(first + 700));
  }

  @Test
  void givenMoreDeadWaitersThanAStepDrops_thenWhoComesWaitsForTheNext() {
    run(acquire(A));
    for (int from = 0; from < 130; from += 65) {
      run(
          IntStream.range(from, from + 65)
              .mapToObj(i -> acquire(attempt('B', i)))
              .toArray(String[]::new));
    }
    lives('B', 0);
    assertThat(ask(abandon(A))).isEqualTo("ER1");
    assertThat(ask(acquire(C))).isEqualTo(waits('Q', 2, 3_000));
    assertThat(ask(acquire(C))).startsWith("G");
  }
}
