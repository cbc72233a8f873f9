package io.mortise.redis.lettuce;

import io.lettuce.core.RedisClient;
import io.mortise.redis.RedisOptions;
import io.mortise.redis.RedisStore;
import io.mortise.redis.transport.ConnectionOutage;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.TransportFactory;
import io.mortise.redis.transport.TransportListener;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;

/** Opens stores over a Lettuce client. */
public final class LettuceStore {
  private LettuceStore() {}

  /**
   * Uses the caller's client, which must have been created with the URI of a server, and stays open
   * when the store is closed. Slower than {@link RedisStore#open} under load, since the caller's
   * client is not tuned. Blocks.
   *
   * @throws IllegalArgumentException if the client is restricted to RESP2
   * @throws io.mortise.StoreUnavailableException if the server cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  public static LockStore over(RedisClient client, RedisOptions options) {
    return RedisStore.over(new SuppliedClient(client), "redis:(client handed in)", options);
  }

  /** The client outlives the connections. */
  private record SuppliedClient(RedisClient client) implements TransportFactory {
    @Override
    public RedisTransport connect(TransportListener listener) {
      return LettuceTransport.over(client, new ConnectionOutage(Ticker.SYSTEM), listener);
    }

    @Override
    public void close() {}
  }
}
