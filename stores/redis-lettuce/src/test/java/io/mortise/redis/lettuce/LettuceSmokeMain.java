package io.mortise.redis.lettuce;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceVersion;
import io.lettuce.core.RedisClient;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.event.command.CommandListener;
import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.redis.RedisFence;
import io.mortise.redis.RedisOptions;
import io.mortise.redis.transport.ConnectionOutage;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.time.Ticker;
import io.netty.util.Version;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Takes locks with the Lettuce version on its class path, and prints that version; ends with an
 * exception on a failure.
 */
final class LettuceSmokeMain {
  static final String DONE = "done";

  private static final Duration LONG = Duration.ofSeconds(30);

  private LettuceSmokeMain() {}

  public static void main(String[] args) throws Exception {
    String url = args[0];
    System.out.println("lettuce=" + LettuceVersion.getVersion());
    System.out.println("netty=" + Version.identify().get("netty-common").artifactVersion());
    try (LockClient one = LockClient.connect(url + "?wire=lettuce");
        LockClient other = LockClient.connect(url + "?wire=lettuce")) {
      handOff(one, other);
    }
    RedisClient client = RedisClient.create(url);
    try {
      overClient(client);
      fence(client);
      // Each option in turn hides the channel behind one more layer.
      client.setOptions(
          ClientOptions.builder().timeoutOptions(TimeoutOptions.enabled(LONG)).build());
      client.addListener(new CommandListener() {});
      reset(client);
    } finally {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
    System.out.println(DONE);
    System.exit(0);
  }

  private static void overClient(RedisClient client) throws Exception {
    RedisOptions options = RedisOptions.DEFAULT.withNamespace("over");
    try (LockClient one = LockClient.builder().store(LettuceStore.over(client, options)).build();
        LockClient other = LockClient.builder().store(LettuceStore.over(client, options)).build()) {
      handOff(one, other);
    }
  }

  private static void handOff(LockClient one, LockClient other) throws Exception {
    Lease held = one.lock("invoice/42").acquireWithin(LONG);
    long first = held.token();
    check(other.lock("invoice/42").tryAcquire().isEmpty(), "a second holder");
    CompletableFuture<Lease> next = other.lock("invoice/42").acquireAsync();
    check(!next.isDone(), "a waiter that does not wait");
    held.close();
    try (Lease lease = next.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
      check(lease.token() > first, "a token that does not rise");
    }
    one.lock("invoice/42").tryAcquire().orElseThrow().close();
  }

  private static void fence(RedisClient client) {
    try (StatefulRedisConnection<String, String> connection = client.connect()) {
      RedisFence fence = LettuceFence.over(connection.sync());
      fence.write("total", new FencingToken("x", 2, "b"), "SET", "total", "2");
      try {
        fence.write("total", new FencingToken("x", 1, "a"), "SET", "total", "1");
        check(false, "a stale write");
      } catch (StaleTokenException refused) {
        check(connection.sync().get("total").equals("2"), "a write that was refused and done");
      }
    }
  }

  /** A connection that does not answer is dropped and reopened. */
  private static void reset(RedisClient client) throws Exception {
    CountDownLatch reconnected = new CountDownLatch(1);
    try (RedisTransport transport =
        LettuceTransport.over(
            client, new ConnectionOutage(Ticker.SYSTEM), reconnected::countDown)) {
      transport.reset();
      check(
          reconnected.await(LONG.toSeconds(), TimeUnit.SECONDS),
          "a connection that is not made anew");
    }
  }

  private static void check(boolean right, String wrong) {
    if (!right) {
      throw new IllegalStateException("There is " + wrong + ".");
    }
  }
}
