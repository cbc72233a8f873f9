package io.mortise.bench.subject;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import redis.clients.jedis.Jedis;

/** A blocking connection for each thread that asks. */
final class JedisConnections {
  private static final int TIMEOUT_MILLIS = 30_000;

  private final StoreUrls stores;
  private final Map<Thread, Jedis> open = new ConcurrentHashMap<>();

  JedisConnections(StoreUrls stores) {
    this.stores = stores;
  }

  Jedis get() {
    return open.computeIfAbsent(
        Thread.currentThread(),
        thread -> new Jedis(stores.redisHost(), stores.redisPort(), TIMEOUT_MILLIS));
  }

  void closeMine() {
    Jedis mine = open.remove(Thread.currentThread());
    if (mine != null) {
      mine.close();
    }
  }

  void closeAll() {
    open.values().forEach(Jedis::close);
    open.clear();
  }
}
