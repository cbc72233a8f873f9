package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The exact effects of the scripts for sessions, server lists and idle records. Seen from outside,
 * these would need a clock that jumps, a failover or a full server.
 */
class SessionScriptsTest {
  private static final String SESSION = "m:s:1";
  private static final String NEWS = "m:n:1";
  private static final String BEAT = "m:b:1";
  private static final String NOW_AND_LATER = "9999999999999999";
  private static final long TTL = 600_000;

  private static RedisServer server;
  private static ForeignClient client;

  @BeforeAll
  static void start() {
    server = RedisServers.any();
    client = new ForeignClient(server.port());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @BeforeEach
  void empty() {
    client.call("REPLICAOF", "NO", "ONE");
    client.call("CONFIG", "SET", "maxmemory", "0");
    client.call("FLUSHALL");
  }

  private static @Nullable Object run(String script, List<String> keys, String... arguments) {
    try (InputStream in = SessionScriptsTest.class.getResourceAsStream(script)) {
      List<String> words = new ArrayList<>();
      words.add("EVAL");
      words.add(new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8));
      words.add(Integer.toString(keys.size()));
      words.addAll(keys);
      words.addAll(List.of(arguments));
      return client.call(words.toArray(String[]::new));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String digits(long number) {
    return String.format("%016d", number);
  }

  /** The server's value for a session with this beat. */
  private static String value(long beat) {
    return value(beat, TTL, "0");
  }

  private static String value(long beat, long ttl, String listens) {
    return digits(beat) + digits(ttl) + listens + "label";
  }

  private static List<?> renew(
      long previous, long next, String deadline, long before, String memory, String strict) {
    return renew(previous, next, TTL, "0", deadline, before, memory, strict);
  }

  private static List<?> renew(
      long previous,
      long next,
      long ttl,
      String listens,
      String deadline,
      long before,
      String memory,
      String strict) {
    return (List<?>)
        run(
            "renew.lua",
            List.of(SESSION, NEWS),
            digits(previous),
            digits(next),
            digits(ttl),
            "label",
            deadline,
            digits(before),
            memory,
            strict,
            listens);
  }

  private static List<?> renew(long previous, long next) {
    return renew(previous, next, NOW_AND_LATER, 0, "", "");
  }

  private static long left(String key) {
    return (Long) client.call("PTTL", key);
  }

  private static long exist(String... keys) {
    List<String> words = new ArrayList<>(List.of("EXISTS"));
    words.addAll(List.of(keys));
    return (Long) client.call(words.toArray(String[]::new));
  }

  private static long micros() {
    List<?> time = (List<?>) client.call("TIME");
    return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
  }

  /** Fills the server: commands that need memory are refused. */
  private static void fill() {
    client.call("CONFIG", "SET", "maxmemory", "1");
  }

  private static void assertLivesForItsTtl() {
    assertThat(left(SESSION)).isBetween(TTL - 60_000, TTL);
  }

  @Test
  void givenRenewal_thenTheServersTimeAndWhatItRemembersWithAreTold_andTheSessionLivesForItsTtl() {
    long began = micros();
    List<?> answer = renew(0, 1);
    assertThat(Long.parseLong((String) answer.get(0))).isBetween(began, micros());
    assertThat(answer.get(1)).isEqualTo(server.info("master_replid")).isNotEqualTo("");
    assertThat(client.call("GET", SESSION)).isEqualTo(value(1));
    assertLivesForItsTtl();
  }

  @Test
  void givenRenewalForAShorterTime_thenTheSessionLivesForThatOnly_andTheNextMayBeForMore() {
    renew(0, 1);
    renew(1, 2, 60_000, "1", NOW_AND_LATER, 0, "", "");
    assertThat(client.call("GET", SESSION)).isEqualTo(value(2, 60_000, "1"));
    assertThat(left(SESSION)).isBetween(1L, 60_000L);
    assertThat(run("judge.lua", List.of(SESSION), "whole")).isEqualTo(digits(2) + digits(60_000));
    renew(2, 3);
    assertThat(client.call("GET", SESSION)).isEqualTo(value(3));
    assertLivesForItsTtl();
  }

  @Test
  void givenProcessThatListens_whenRenewed_thenItsSessionSaysSo_andItsBeatToo() {
    for (long beat = 1; beat < 3; beat++) {
      String listens = Long.toString(beat % 2);
      renew(beat - 1, beat, TTL, listens, NOW_AND_LATER, 0, "", BEAT);
      assertThat(client.call("GET", SESSION)).isEqualTo(value(beat, TTL, listens));
      assertThat(client.call("GET", BEAT)).isEqualTo(value(beat, TTL, listens));
    }
  }

  @Test
  void givenFullServer_whenRenewed_thenTheSessionLivesOn_andItsNewsAsLongAsBefore() {
    renew(0, 1);
    client.call("ZADD", NEWS, "1", "news");
    client.call("PEXPIRE", NEWS, "6000000");
    fill();
    assertThat(renew(1, 2)).hasSize(3);
    assertThat(client.call("GET", SESSION)).isEqualTo(value(2));
    assertThat(left(NEWS)).isGreaterThan(TTL);
  }

  @Test
  void givenNewsThatWasSeen_whenRenewed_thenItIsForgotten() {
    renew(0, 1);
    client.call("ZADD", NEWS, "1", "one", "2", "two", "3", "three");
    List<?> answer =
        (List<?>)
            run(
                "renew.lua",
                List.of(SESSION, NEWS),
                digits(1),
                digits(2),
                digits(TTL),
                "label",
                NOW_AND_LATER,
                digits(0),
                "",
                "",
                "0",
                "1",
                "3");
    assertThat(answer).hasSize(3);
    assertThat(answer.get(2)).isEqualTo("+0000000000000002two");
  }

  @Test
  void givenMuchNews_whenRenewed_thenOneMoreIsToldThanAStepMayTell() {
    for (int i = 0; i < 70; i++) {
      client.call("ZADD", NEWS, Integer.toString(i), "news" + i);
    }
    assertThat(renew(0, 1)).hasSize(2 + 65);
  }

  @Test
  void givenSessionThatIsOpenedTooLate_thenItIsNotMade_andTheTimeIsTold() {
    long began = micros();
    List<?> answer = renew(0, 1, Long.toString(began), 0, "", "");
    assertThat(answer.get(0)).isEqualTo("L");
    assertThat(Long.parseLong((String) answer.get(1))).isBetween(began, micros());
    assertThat(exist(SESSION)).isZero();
  }

  @Test
  void givenStrictExpiry_whenRenewed_thenTheBeatIsKeptForEver_andCountsThoughTheSessionExpired() {
    renew(0, 1, NOW_AND_LATER, 0, "", BEAT);
    for (long beat = 1; beat < 4; beat++) {
      assertThat(client.call("GET", BEAT)).isEqualTo(value(beat));
      assertThat(left(BEAT)).as("it does not expire").isEqualTo(-1);
      assertThat(client.call("GET", SESSION)).isEqualTo(value(beat));
      assertLivesForItsTtl();
      client.call("DEL", SESSION);
      assertThat(renew(beat, beat + 1, NOW_AND_LATER, 0, "", BEAT)).hasSize(2);
    }
    assertThat(exist(SESSION, BEAT)).isEqualTo(2);
    assertThat((List<?>) client.call("KEYS", "*")).hasSize(2);
  }

  @Test
  void givenServerThatTookOver_thenTheBeatBeforeCounts_butNotOnTheOneThatConfirmedTheNext() {
    renew(0, 5);
    String same = server.info("master_replid");
    assertThat(renew(6, 7, NOW_AND_LATER, 5, same, "").get(0)).isEqualTo("O");
    assertThat(renew(6, 7, NOW_AND_LATER, 4, "another", "").get(0)).isEqualTo("O");
    assertThat(renew(6, 7, NOW_AND_LATER, 4, same, "").get(0)).isEqualTo("O");
    assertThat(client.call("GET", SESSION)).isEqualTo(value(5));
    assertThat(renew(6, 7, NOW_AND_LATER, 5, "another", "")).hasSize(2);
    assertThat(client.call("GET", SESSION)).isEqualTo(value(7));
  }

  @Test
  void givenReplica_thenItSaysOfNoSessionThatItEnded() {
    client.call("REPLICAOF", "127.0.0.1", Integer.toString(RedisServer.freePort()));
    assertThatThrownBy(() -> renew(1, 2)).hasMessageContaining("READONLY");
    assertThatThrownBy(() -> run("judge.lua", List.of(SESSION))).hasMessageContaining("READONLY");
  }

  @Test
  void givenSession_whenJudged_thenItsBeatIsTold_andWhatIsLeftOrItsWholeTtl() {
    assertThat(run("judge.lua", List.of(SESSION))).isNull();
    renew(0, 7);
    String answer = (String) run("judge.lua", List.of(SESSION));
    assertThat(answer).startsWith(digits(7));
    assertThat(Long.parseLong(answer.substring(16))).isBetween(TTL - 60_000, TTL);
    assertThat(run("judge.lua", List.of(SESSION), "whole")).isEqualTo(digits(7) + digits(TTL));
  }

  @Test
  void givenSession_whenClosed_thenItsNewsGoesToo() {
    renew(0, 1);
    client.call("ZADD", NEWS, "1", "news");
    assertThat(run("close.lua", List.of(SESSION, NEWS))).isEqualTo(2L);
    assertThat(exist(SESSION, NEWS)).isZero();
  }

  @Test
  void givenBeatThatStoodStill_thenTheSessionEndsWithAllThatItHas_andNotIfItHasMoved() {
    renew(0, 3, NOW_AND_LATER, 0, "", BEAT);
    client.call("ZADD", NEWS, "1", "news");
    List<String> all = List.of(BEAT, SESSION, NEWS);
    assertThat(run("strict_end.lua", all, digits(2))).isEqualTo(0L);
    assertThat(exist(BEAT, SESSION, NEWS)).isEqualTo(3);
    assertThat(run("strict_end.lua", all, digits(3))).isEqualTo(1L);
    assertThat(exist(BEAT, SESSION, NEWS)).isZero();
    client.call("SET", SESSION, "left");
    client.call("ZADD", NEWS, "1", "left");
    assertThat(run("strict_end.lua", all, digits(3))).as("ended before").isEqualTo(1L);
    assertThat(exist(BEAT, SESSION, NEWS)).isZero();
  }

  @Test
  void givenBeat_whenTheSessionExpired_thenItIsRevived_onAFullServerToo() {
    List<String> both = List.of(BEAT, SESSION);
    assertThat(run("strict_revive.lua", both)).isEqualTo(0L);
    assertThat(exist(BEAT, SESSION)).isZero();
    renew(0, 3, NOW_AND_LATER, 0, "", BEAT);
    client.call("DEL", SESSION);
    client.call("PEXPIRE", BEAT, "60000");
    fill();
    assertThat(run("strict_revive.lua", both)).isEqualTo(1L);
    assertThat(client.call("GET", SESSION)).isEqualTo(value(3));
    assertLivesForItsTtl();
    assertThat(client.call("GET", BEAT)).isEqualTo(value(3));
    assertThat(left(BEAT)).isEqualTo(-1);
  }

  @Test
  void givenNamespace_thenItIsStrictFromTheFirstOnWhoWantsIt_forEver() {
    List<String> mode = List.of("m:mode");
    assertThat(run("strict_mode.lua", mode, "")).isEqualTo(0L);
    assertThat(exist("m:mode")).isZero();
    assertThat(run("strict_mode.lua", mode, "1")).isEqualTo(1L);
    assertThat(run("strict_mode.lua", mode, "")).isEqualTo(1L);
    assertThat(run("strict_mode.lua", mode, "1")).isEqualTo(1L);
    assertThat(client.call("GET", "m:mode")).isEqualTo("strict");
    assertThat(left("m:mode")).isEqualTo(-1);
  }

  @Test
  void givenListOfServers_whenAnotherComes_thenItIsRefused_orTheOldOneMattersForSoLong() {
    List<String> keys = List.of("m:shards", "m:moving");
    for (int i = 0; i < 2; i++) {
      assertThat(shards(keys, "a,b", "0")).isEqualTo(List.of(1L, "", 0L));
    }
    assertThat(shards(keys, "a,b,c", "0")).isEqualTo(List.of(0L, "a,b", 0L));
    assertThat(client.call("GET", "m:shards")).isEqualTo("a,b");
    assertThat(exist("m:moving")).isZero();
    for (String millis : List.of("600000", "0")) {
      List<?> moving = shards(keys, "a,b,c", millis);
      assertThat(moving.subList(0, 2)).isEqualTo(List.of(1L, "a,b"));
      assertThat((Long) moving.get(2)).isBetween(540_000L, 600_000L);
    }
    assertThat(client.call("GET", "m:shards")).isEqualTo("a,b,c");
    assertThat(left("m:shards")).isEqualTo(-1);
  }

  private static List<?> shards(List<String> keys, String list, String millis) {
    return (List<?>) run("sharded/shards.lua", keys, list, millis);
  }

  @Test
  void givenRecords_whenShortened_thenThoseOfIdleLocksThatAreKeptForLonger_andNoOthers() {
    client.call("SET", "m:l:idle", "-1", "PX", "600000");
    client.call("SET", "m:l:too", "-1", "PX", "600000");
    client.call("SET", "m:l:soon", "-1", "PX", "30000");
    client.call("SET", "m:l:shut", "=1", "PX", "600000");
    client.call("SET", "m:l:held", "h1");
    client.call("HSET", "m:l:foreign", "a", "b");
    List<String> keys =
        List.of("m:l:foreign", "m:l:idle", "m:l:soon", "m:l:shut", "m:l:held", "m:l:too");

    assertThat(run("shorten.lua", keys, "60000")).isEqualTo(2L);

    assertThat((Long) client.call("PTTL", "m:l:idle")).isBetween(40_000L, 60_000L);
    assertThat((Long) client.call("PTTL", "m:l:too")).isBetween(40_000L, 60_000L);
    assertThat((Long) client.call("PTTL", "m:l:soon")).isLessThanOrEqualTo(30_000);
    assertThat((Long) client.call("PTTL", "m:l:shut")).isGreaterThan(500_000);
    assertThat(client.call("PTTL", "m:l:held")).isEqualTo(-1L);
    assertThat(client.call("PTTL", "m:l:foreign")).isEqualTo(-1L);
  }
}
