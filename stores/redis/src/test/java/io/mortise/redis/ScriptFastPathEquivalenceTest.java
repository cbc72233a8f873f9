package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.redis.LockScriptRunner.ScriptResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The short paths of {@code lock.lua} have the same answers, notifications and keys as the long
 * one, and they are taken. Calls on plain locks run both ways at the same server time.
 */
class ScriptFastPathEquivalenceTest extends LockScriptFixture {
  private static final String SHORT = "short:";
  private static final String LONG = "longer:";
  private static final String SESSIONS = "ABC";
  private static final long[] LIVES = {10_000, 20_000, 60_000, 600_000};
  private static final long[] PASSING = {0, 0, 1, 2, 7, 1_000, 400_000};

  private final List<String> calls = new ArrayList<>();

  @BeforeEach
  @Override
  void reset() {
    script.reset();
    calls.clear();
    SESSIONS.chars().forEach(session -> lives((char) session, 600_000));
  }

  @Override
  void lives(char session, long millis) {
    both((prefix, any) -> script.lives(prefix, session, millis));
  }

  private void both(BiConsumer<String, LockScriptRunner> action) {
    action.accept(SHORT, script);
    action.accept(LONG, script);
  }

  private static String acquire(String attempt) {
    return LockScriptRunner.plain(attempt, true, 1);
  }

  private static String text(ScriptResult scriptResult) {
    return Stream.of(scriptResult.answers(), scriptResult.told(), scriptResult.keys())
        .map(all -> String.join("\n", all))
        .reduce("", (all, one) -> all + one + "\n\n");
  }

  /** Runs them both ways, and returns the result of the short one. */
  private ScriptResult runBoth(String... operations) {
    calls.add(script.now + " " + String.join(" ", operations));
    ScriptResult shorter = script.run(SHORT, operations);
    ScriptResult longer =
        script.run(
            LONG,
            Stream.of(operations)
                .map(ScriptFastPathEquivalenceTest::longer)
                .toArray(String[]::new));
    assertThat(text(shorter)).as("after %s", calls).isEqualTo(text(longer));
    return shorter;
  }

  private static String longer(String operation) {
    int name = operation.indexOf(':') + 1;
    return operation.substring(0, name) + LockScriptRunner.longer(operation.substring(name));
  }

  /** An attempt that waits or holds with terms, or as a reader. */
  private static String withTerms(String attempt, Random random) {
    return LockScriptRunner.acquire(
        attempt,
        random.nextBoolean() ? 1 : ALL,
        ALL,
        0,
        random.nextInt(2) * 2_000L,
        random.nextInt(2) * 2_000L,
        random.nextBoolean() ? "label" : "");
  }

  private static String attempt(Random random, int attempts) {
    char session = SESSIONS.charAt(random.nextInt(SESSIONS.length()));
    return LockScriptRunner.attempt(session, random.nextInt(attempts));
  }

  private static String plain(Random random, int attempts) {
    int tokens = random.nextInt(3) > 0 ? 1 : random.nextInt(10) > 0 ? 3 : 9_999;
    return LockScriptRunner.plain(attempt(random, attempts), random.nextInt(4) > 0, tokens);
  }

  private static String operation(Random random, int attempts) {
    String attempt = attempt(random, attempts);
    String name = random.nextInt(6) > 0 ? "k:" : "other:";
    if (random.nextInt(25) == 0) {
      // Operations that the short paths leave to the long one, or that make a lock need it.
      return name
          + switch (random.nextInt(5)) {
            case 0 -> "v" + attempt + (random.nextBoolean() ? 'C' : 'B');
            case 1 -> "s";
            case 2, 3 -> withTerms(attempt, random);
            default -> LockScriptRunner.adjust(attempt, 0, ALL, ALL, 2_000, 2_000, 0);
          };
    } else if (random.nextInt(5) < 3) {
      return name + plain(random, attempts);
    }
    return name + "r" + attempt;
  }

  /**
   * Each run has another mixture.
   *
   * @param attempts of each session; with many the queue grows long
   * @param dying how often a session ends, comes back or loses its connection, in percent
   */
  @ParameterizedTest
  @CsvSource({"1, 0", "1, 10", "2, 0", "2, 10", "5, 0", "5, 5", "12, 2"})
  void givenRandomCalls_thenBothWaysDoTheSame(int attempts, int dying) {
    for (int seed = 0; seed < 4; seed++) {
      reset();
      script.cluster = seed == 3;
      calls.add("seed " + seed);
      Random random = new Random(seed);
      for (int step = 0; step < 60; step++) {
        script.now += PASSING[random.nextInt(PASSING.length)];
        script.grace = random.nextInt(40) > 0 ? 1_000_000_000 : random.nextInt(3) - 1;
        if (random.nextInt(100) < dying) {
          char session = SESSIONS.charAt(random.nextInt(SESSIONS.length()));
          long life = random.nextBoolean() ? 0 : LIVES[random.nextInt(LIVES.length)];
          if (random.nextBoolean()) {
            lives(session, life);
          } else {
            both((prefix, any) -> script.disconnect(prefix, session, life + 1_000));
          }
        }
        runBoth(
            switch (random.nextInt(6)) {
              case 0 -> new String[] {"r" + attempt(random, attempts), plain(random, attempts)};
              case 1 ->
                  Stream.generate(() -> operation(random, attempts))
                      .limit(3)
                      .toArray(String[]::new);
              default -> new String[] {operation(random, attempts)};
            });
      }
    }
  }

  /** Tokens never run ahead of the clock by more than a second. */
  @Test
  void givenTokensAheadOfTheClock_thenBothWaysGrantTheSameNumber() {
    for (int ahead = 999_985; ahead < 1_000_003; ahead++) {
      reset();
      long last = script.now + ahead;
      both((prefix, any) -> any.raw("SET", prefix + "l:k", "-" + last + B + "R"));
      runBoth(LockScriptRunner.plain(A, true, 5));
      runBoth(LockScriptRunner.plain(B, true, 5));
      runBoth(LockScriptRunner.plain(C, true, 5));
      runBoth("r" + A);
      runBoth("r" + B);
      runBoth("r" + C);
    }
  }

  @Test
  void givenWaitersForManyTokensOrWithTerms_thenTheyHaveThemWhenTheLockIsHandedOver() {
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      reset();
      runBoth(acquire(A));
      runBoth(i == 0 ? LockScriptRunner.plain(B, true, 9_999) : withTerms(B, random));
      runBoth("r" + A);
      runBoth(acquire(C));
    }
  }

  @Test
  void givenLockThatIsShut_thenBothWaysSayUntilWhen() {
    runBoth(LockScriptRunner.acquire(A, ALL, ALL, 0, 500), "r" + A);
    runBoth(acquire(B));
    runBoth(LockScriptRunner.plain(C, false, 1));
    runBoth(acquire(C));
    script.now += 500;
    runBoth(acquire(C));
  }

  /** Notifications about two locks, sent in the same step, have adjacent ids. */
  @Test
  void givenTwoLocksHandedOverToOneSession_whenOneIsReleased_thenTheOthersNewsStays() {
    String other = LockScriptRunner.attempt('B', 2);
    runBoth("k:" + acquire(A), "other:" + acquire(A));
    runBoth("k:" + acquire(B), "other:" + acquire(other), "k:" + acquire(C));
    runBoth("k:r" + A, "other:r" + A);
    ScriptResult released = runBoth("k:r" + B);
    assertThat(released.at("n:" + LockScriptRunner.session('B')))
        .startsWith("for 660 s: G" + other);
  }

  /** A session that ends in this very millisecond is still alive. */
  @Test
  void givenSessionsWithHardlyAnyTimeLeft_thenBothWaysAskAgainAlike() {
    runBoth(acquire(A));
    both((prefix, any) -> any.raw("SET", prefix + "s:" + LockScriptRunner.session('A'), "0"));
    runBoth(acquire(B));
    both((prefix, any) -> any.raw("SET", prefix + "s:" + LockScriptRunner.session('B'), "0"));
    runBoth(acquire(C));
    runBoth(LockScriptRunner.plain(LockScriptRunner.attempt('C', 2), false, 1));
    runBoth("r" + A);
  }

  @Test
  void givenLongQueue_thenBothWaysCountItAlike_andSeeWhoOfTheFirstEndsSoon() {
    runBoth(acquire(A));
    lives('C', 10_000);
    for (int i = 0; i < 12; i++) {
      if (i == 8) {
        runBoth(acquire(LockScriptRunner.attempt('C', i)));
      }
      runBoth(acquire(LockScriptRunner.attempt('B', i)));
      runBoth(LockScriptRunner.plain(C, false, 1));
    }
    both(
        (prefix, any) -> {
          List<String> words = new ArrayList<>(List.of("ZADD", prefix + "q:k"));
          for (int i = 0; i < 10_001; i++) {
            words.add(Long.toString(script.now + 100 + i));
            words.add(LockScriptRunner.attempt('B', 100 + i));
          }
          any.raw(words.toArray(String[]::new));
        });
    assertThat(runBoth(acquire(C)).answer()).startsWith("Q0010014");
    assertThat(runBoth("r" + A).answer()).isEqualTo("ER0");
  }

  /** A key that is not ours, or is incomplete: the long path decides. */
  @ParameterizedTest
  @CsvSource({"l, 0", "l, 42", "l, 43", "q, 1", "d, 1", "s, 0"})
  void givenForeignKeys_thenBothWaysAnswerAlike_andLeaveThem(String kind, int length) {
    for (boolean waits : List.of(false, true)) {
      reset();
      runBoth(acquire(A));
      if (waits) {
        runBoth(acquire(B));
      }
      both(
          (prefix, any) -> {
            String key =
                prefix + kind + ":" + (kind.equals("s") ? LockScriptRunner.session('B') : "k");
            any.raw("DEL", key);
            if (length == 0) {
              any.raw("HSET", key, "a", "b");
            } else {
              any.raw("SET", key, "h".repeat(length));
            }
          });
      runBoth(acquire(C));
      runBoth("r" + A);
      runBoth("r" + B);
    }
  }

  @Test
  void givenWaiterWithoutEntry_thenBothWaysPassItOver() {
    runBoth(acquire(A));
    runBoth(acquire(B));
    runBoth(acquire(C));
    both((prefix, any) -> any.raw("HDEL", prefix + "d:k", B));
    runBoth("r" + A);
    assertThat(runBoth(acquire(C)).answer()).startsWith("G");
  }

  @Test
  void givenFullServer_thenTheShorterWaysLeaveToTheLongOneWhatTheyCannotWrite() {
    runBoth(acquire(A));
    runBoth(acquire(B));
    script.fill();
    assertThat(runBoth(acquire(C)).answer()).isEqualTo("F");
    ScriptResult handed = script.run(SHORT, "r" + A);
    assertThat(handed.answer()).isEqualTo("ER0");
    assertThat(handed.told()).hasSize(1);
    assertThat(handed.at("q:k") + handed.at("d:k")).isEmpty();
    ScriptResult released = script.run(SHORT, "r" + B);
    assertThat(released.answer()).isEqualTo("ER0");
    assertThat(released.at("l:k")).startsWith("for 60 s: -");
    assertThat(script.run(SHORT, acquire(C)).answer()).isEqualTo("F");
  }

  /** The commands sent to the server; the long path would send other and more. */
  @Test
  void givenPlainLock_thenTheShorterWaysAreTaken() {
    String grant = "GET EXISTS TIME SET";
    script.grace = 0;
    assertAsked(grant, acquire(A));
    assertAsked("GET SET 60000", "r" + A);
    script.now++;
    assertAsked(grant, acquire(B));
    assertAsked("GET SET 60000", "r" + B);
  }

  /** A release and acquire of one lock in one call. */
  @Test
  void givenPlainLock_whenItIsTakenAgainAtOnce_thenItIsReadAndWrittenOnce() {
    runBoth(acquire(A));
    script.now++;
    assertAsked("GET EXISTS TIME SET", "r" + A, acquire(B));
    script.now++;
    assertAsked("GET SET 60000 GET EXISTS TIME SET", "r" + B, "other:" + acquire(B));
    runBoth(acquire(A));
    assertAsked("GET SET 60000 GET SET 60000", "other:r" + B, "r" + A);
  }

  @Test
  void givenPlainLock_whenItCannotBeTakenAgain_thenItIsGivenBackAllTheSame() {
    runBoth(acquire(A));
    lives('B', 0);
    assertThat(runBoth("r" + A, acquire(B)).answers()).containsExactly("ER0", "S");
    lives('B', 600_000);
    runBoth(acquire(A));
    assertThat(runBoth("r" + A, acquire(A)).answers()).containsExactly("ER0", "DR");
    runBoth(acquire(LockScriptRunner.attempt('A', 2)));
    script.grace = -1;
    ScriptResult late = runBoth("r" + LockScriptRunner.attempt('A', 2), acquire(B));
    assertThat(late.answers()).containsExactly("ER0", "L" + script.now);
    script.grace = 0;
    runBoth(acquire(LockScriptRunner.attempt('A', 3)));
    script.fill();
    assertThat(runBoth("r" + LockScriptRunner.attempt('A', 3), acquire(B)).answers().get(0))
        .isEqualTo("ER0");
  }

  /**
   * The record of a holder has several lengths: with the previous end, with a notification of the
   * grant, and with all fields when the token is not the time.
   */
  @ParameterizedTest
  @CsvSource({"false, 0", "false, 5", "true, 0", "true, 5"})
  void givenPlainLockThatIsContended_thenTheShorterWaysAreTaken(boolean before, int passing) {
    script.grace = 0;
    if (before) {
      runBoth(acquire(LockScriptRunner.attempt('C', 9)));
      runBoth("r" + LockScriptRunner.attempt('C', 9));
      script.now++;
    }
    runBoth(acquire(A));
    String first = "GET PTTL PTTL TIME HSET ZADD SET ZADD PEXPIRE 660000 PUBLISH";
    String second = "GET PTTL PTTL TIME ZRANGE PTTL HSET ZADD";
    String handing =
        "GET ZRANGE PTTL PTTL PUBSUB NUMSUB HGET TIME SET ZREM HDEL %s ZADD PEXPIRE 660000 PUBLISH";
    assertAsked(first, acquire(B));
    assertAsked(second, acquire(C));
    script.now += passing;
    assertAsked(handing.formatted("ZREM"), "r" + A);
    String next = LockScriptRunner.attempt('A', 2);
    assertAsked(second, acquire(next));
    assertAsked(
        "GET PTTL PTTL TIME ZRANGE PTTL",
        LockScriptRunner.plain(LockScriptRunner.attempt('A', 3), false, 1));
    script.now += passing;
    assertAsked(handing.formatted("ZREMRANGEBYSCORE"), "r" + B);
    assertAsked(handing.formatted("ZREMRANGEBYSCORE").replace("PTTL PTTL", "PTTL"), "r" + C);
    assertAsked(first, acquire(LockScriptRunner.attempt('C', 2)));
  }

  private void assertAsked(String commands, String... operations) {
    assertThat(String.join(" ", runBoth(operations).asked()))
        .as(String.join(" ", operations))
        .isEqualTo(commands);
  }
}
