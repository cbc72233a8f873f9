package io.mortise.redis.sharded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that cannot be reached is retried after any exception. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardedStoreTest {
  private static final StoreProfile PROFILE =
      new StoreProfile(
          "sharded", Set.of(), Duration.ofSeconds(1), Duration.ofMillis(200), Duration.ZERO);
  private static final ShardList LIST =
      new ShardList(List.of("a", "b"), "m::", null, Duration.ofSeconds(1));

  private static Shard shard(String id, Error... failures) {
    Queue<Error> left = new ConcurrentLinkedQueue<>(new ArrayDeque<>(List.of(failures)));
    return new Shard(
        id,
        id,
        () -> {
          Error failure = left.poll();
          if (failure != null) {
            throw failure;
          }
          return new Shard.ConnectedShard(store(), control());
        });
  }

  private static LockStore store() {
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) ->
                method.getName().equals("claimSweep")
                    ? CompletableFuture.completedFuture(true)
                    : null);
  }

  /** A server with the same list of servers. */
  private static RedisTransport control() {
    return (RedisTransport)
        Proxy.newProxyInstance(
            RedisTransport.class.getClassLoader(),
            new Class<?>[] {RedisTransport.class},
            (proxy, method, arguments) ->
                method.getName().equals("call")
                    ? CompletableFuture.completedFuture(List.of(1L, "a,b", 0L))
                    : null);
  }

  @Test
  void givenErrorWhileItConnects_thenTheServerIsTriedAgain() {
    Shard failing = shard("b", new NoClassDefFoundError("once"), new LinkageError("once more"));
    try (ShardedStore store =
        new ShardedStore(List.of(shard("a"), failing), LIST, PROFILE, Ticker.SYSTEM)) {
      assertThat(store.partition(0).claimSweep()).isCompletedWithValue(true);
      Awaitility.await()
          .atMost(20, TimeUnit.SECONDS)
          .until(
              () ->
                  !store
                      .partition(1)
                      .claimSweep()
                      .toCompletableFuture()
                      .isCompletedExceptionally());
    }
  }

  @Test
  void givenNothingButErrors_thenItCannotBeOpened() {
    List<Shard> shards =
        List.of(
            shard("a", new NoClassDefFoundError("a")), shard("b", new NoClassDefFoundError("b")));
    assertThatThrownBy(() -> new ShardedStore(shards, LIST, PROFILE, Ticker.SYSTEM))
        .isInstanceOf(StoreUnavailableException.class)
        .hasRootCauseInstanceOf(NoClassDefFoundError.class);
  }
}
