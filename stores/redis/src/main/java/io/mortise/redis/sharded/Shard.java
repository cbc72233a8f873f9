package io.mortise.redis.sharded;

import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.LockStore;

/**
 * One of the servers.
 *
 * @param id decides which names it has; stays the same when the server moves to another address
 * @param display its name in messages
 * @param connector connects to it
 */
public record Shard(String id, String display, ShardConnector connector) {
  /** Connects, and checks whether the server is fit. */
  @FunctionalInterface
  public interface ShardConnector {
    /**
     * Blocks.
     *
     * @throws io.mortise.StoreUnavailableException if the server cannot be reached
     * @throws io.mortise.StoreUnfitException if it can, but must not be used
     */
    ConnectedShard connect();
  }

  /**
   * A server that is connected.
   *
   * @param store keeps the locks; closed by its user
   * @param control a connection to the server for other use
   */
  public record ConnectedShard(LockStore store, RedisTransport control) {}
}
