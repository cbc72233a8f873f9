package io.mortise.bench.subject;

import java.util.List;
import redis.clients.jedis.Jedis;

/**
 * A list with one element, popped to lock and pushed to unlock: the server hands it to the longest
 * waiter. The limit for a hand-off, but useless as a lock: a dead holder keeps it.
 */
final class BlockingPopLock implements Subject {
  /** Puts the element into KEYS[1] once. */
  private static final String MAKE =
      "if redis.call('SETNX', KEYS[1] .. ':there', 1) == 1 then redis.call('RPUSH', KEYS[1], 1) end";

  private final JedisConnections connections;

  BlockingPopLock(StoreUrls storeUrls) {
    connections = new JedisConnections(storeUrls);
  }

  @Override
  public LockHandle lockHandle(String lock) {
    Jedis redis = connections.get();
    redis.eval(MAKE, List.of(lock), List.of());
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) {
        return redis.blpop(waitMillis / 1000.0, lock) != null;
      }

      @Override
      public void release() {
        redis.rpush(lock, "1");
      }
    };
  }

  @Override
  public void onThreadExit() {
    connections.closeMine();
  }

  @Override
  public void close() {
    connections.closeAll();
  }
}
