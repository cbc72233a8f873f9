package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A stale holder can write at will, unless the resource checks its token. */
class RedisFenceTest {
  private static final String KEY = "invoice:42";
  private RedisServer server;
  private RedisClient lettuce;
  private RedisCommands<String, String> redis;

  @BeforeEach
  void start() {
    start(RedisServers.any());
  }

  private void start(RedisServer started) {
    server = started;
    lettuce = RedisClient.create(server.url());
    redis = lettuce.connect().sync();
  }

  @AfterEach
  void stop() {
    lettuce.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    server.close();
  }

  private RedisFence fence() {
    return RedisFence.over(
        (script, keys, args) ->
            redis.<List<?>>eval(
                script,
                ScriptOutputType.MULTI,
                keys.toArray(String[]::new),
                args.toArray(String[]::new)));
  }

  private static FencingToken token(long value, String holder) {
    return new FencingToken("invoice/42", value, holder);
  }

  @ParameterizedTest
  @RerunIfPaused
  @EnumSource(RedisServers.class)
  void
      givenHolderThatWasStoppedForTooLong_whenItWrites_thenItIsLetThroughWithoutAFence_andRefusedWithOne(
          RedisServers version) throws Exception {
    stop();
    start(version.start());
    RedisFence fence = fence();
    try (var store = RedisStore.open(server.url());
        LockClient other = LockClient.builder().store(store).build()) {
      StoreLink link = new StoreLink(store);
      LockClient paused = LockClient.builder().store(link).ttl(Duration.ofSeconds(2)).build();
      Lease late = paused.lock("invoice/42").acquire();
      FencingToken seenBefore = late.fencingToken();
      fence.enter(KEY, late);
      link.set(StoreLink.LinkState.CUT);
      try (Lease current = other.lock("invoice/42").acquireWithin(Duration.ofSeconds(20))) {
        fence.write(KEY, current, "SET", KEY, "of the current holder");

        // The control: a write without a token overwrites.
        redis.set("naive", "of the current holder");
        redis.set("naive", "of the late holder");
        assertThat(redis.get("naive")).isEqualTo("of the late holder");

        assertThatThrownBy(() -> fence.write(KEY, seenBefore, "SET", KEY, "of the late holder"))
            .isInstanceOfSatisfying(
                StaleTokenException.class,
                stale -> {
                  assertThat(stale.currentToken()).isEqualTo(current.token());
                  assertThat(stale.currentHolder()).isEqualTo(current.fencingToken().holder());
                  assertThat(stale.refused()).isEqualTo(seenBefore);
                  assertThat(stale).hasMessageContaining(KEY);
                });
        assertThat(redis.get(KEY)).isEqualTo("of the current holder");
        BoundedWait.until(
            Duration.ofSeconds(20), "it was lost", () -> late.state() == Lease.State.LOST);
        assertThatThrownBy(() -> fence.write(KEY, late, "SET", KEY, "x"))
            .isInstanceOf(LeaseLostException.class);
      }
      paused.close();
    }
  }

  @Test
  void givenTokensThatADoubleCannotTellApart_thenTheyAreTold() {
    RedisFence fence = fence();
    long[] rising = {
      1,
      9,
      10,
      1_763_000_000_000_000L,
      (1L << 53),
      (1L << 53) + 1,
      (1L << 53) + 2,
      Long.MAX_VALUE - 1,
      Long.MAX_VALUE
    };
    for (int i = 0; i < rising.length; i++) {
      fence.write(KEY, token(rising[i], "h"), "SET", KEY, Long.toString(rising[i]));
      assertThat(RedisFence.tokenIn(redis.get(RedisFence.fenceOf(KEY)))).hasValue(rising[i]);
      if (i > 0) {
        FencingToken stale = token(rising[i - 1], "h");
        assertThatThrownBy(() -> fence.write(KEY, stale, "SET", KEY, "stale"))
            .isInstanceOf(StaleTokenException.class);
      }
      assertThat(redis.get(KEY)).isEqualTo(Long.toString(rising[i]));
    }
  }

  @Test
  void givenTokenThatWasEntered_thenEarlierHoldersAreRefused_andTheSameMayComeAgain() {
    RedisFence fence = fence();
    fence.write(KEY, token(5, "a"), "SET", KEY, "1");
    fence.enter(KEY, token(6, "b"));
    assertThatThrownBy(() -> fence.write(KEY, token(5, "a"), "INCR", KEY))
        .isInstanceOf(StaleTokenException.class);
    assertThat(fence.write(KEY, token(6, "b"), "INCR", KEY)).isEqualTo(2L);
    assertThat(fence.write(KEY, token(6, "b"), "GET", KEY)).isEqualTo("2");
    assertThat(fence.write(KEY, token(6, "b"), "GET", "missing{" + KEY + "}")).isNull();
    assertThat(fence.write(KEY, token(6, "b"), "DBSIZE")).isEqualTo(2L);
    assertThatThrownBy(() -> fence.enter(KEY, token(6, "another")))
        .isInstanceOfSatisfying(
            StaleTokenException.class, twice -> assertThat(twice.isGrantedTwice()).isTrue());
    fence.enter("another resource", token(1, "a"));
  }

  @Test
  void givenCommandThatFails_thenItsErrorIsThrown_andTheTokenIsInstalled() {
    RedisFence fence = fence();
    fence.write(KEY, token(5, "a"), "SET", KEY, "text");
    assertThatThrownBy(() -> fence.write(KEY, token(6, "b"), "INCR", KEY))
        .isInstanceOf(RedisCommandExecutionException.class);
    assertThat(RedisFence.tokenIn(redis.get(RedisFence.fenceOf(KEY)))).hasValue(6);
    assertThatThrownBy(() -> fence.write(KEY, token(6, "b")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenAnyClient_thenAScriptIsAllThatItHasToRun() {
    RedisFence fence = fence();
    fence.write(KEY, token(5, "a"), "HSET", KEY, "total", "90");
    assertThat(redis.hget(KEY, "total")).isEqualTo("90");
    assertThatThrownBy(() -> fence.enter(KEY, token(4, "z")))
        .isInstanceOf(StaleTokenException.class);
    assertThat(RedisFence.script()).contains("KEYS[1]");
  }

  @Test
  void givenAnyKey_thenItsFenceIsInTheSameSlot_orRefused() {
    for (String key :
        List.of("a", "invoice:42", "{user7}.cart", "x{y}z{w}", "a{b", "a{b{c", "ä ö", "{{x}}")) {
      assertThat(SlotHash.getSlot(RedisFence.fenceOf(key)))
          .as(key)
          .isEqualTo(SlotHash.getSlot(key));
    }
    for (String key : List.of("a}b", "a{}b", "}{")) {
      assertThatThrownBy(() -> RedisFence.fenceOf(key))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(key);
    }
  }
}
