package io.mortise.bench.subject;

import java.util.List;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * The plain lock by a blocking socket per thread: two round trips with nothing in between, which is
 * the limit for a lock that waits for its answers.
 */
final class JedisPlainLock implements Subject {
  private final JedisConnections connections;

  JedisPlainLock(StoreUrls storeUrls) {
    connections = new JedisConnections(storeUrls);
  }

  @Override
  public LockHandle lockHandle(String lock) {
    Jedis redis = connections.get();
    String release = redis.scriptLoad(PlainLock.GIVE);
    String holder = UUID.randomUUID() + "/";
    SetParams terms = SetParams.setParams().nx().px(PlainLock.LEASE_MILLIS);
    return new LockHandle() {
      private long takes;

      @Override
      public boolean take(long waitMillis) {
        takes++;
        return redis.set(lock, holder + takes, terms) != null;
      }

      @Override
      public void release() {
        Object deleted = redis.evalsha(release, List.of(lock), List.of(holder + takes));
        PlainLock.check((Long) deleted, lock);
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
