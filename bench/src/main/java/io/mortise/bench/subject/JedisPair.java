package io.mortise.bench.subject;

import java.util.List;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * The plain lock by a blocking socket per thread: two round trips with nothing in between, which is
 * the limit for a lock that waits for its answers.
 */
final class JedisPair implements Subject {
  private final JedisPerThread connections;

  JedisPair(Stores stores) {
    connections = new JedisPerThread(stores);
  }

  @Override
  public Grip grip(String lock) {
    Jedis redis = connections.get();
    String give = redis.scriptLoad(PlainLock.GIVE);
    String holder = UUID.randomUUID() + "/";
    SetParams terms = SetParams.setParams().nx().px(PlainLock.LEASE_MILLIS);
    return new Grip() {
      private long takes;

      @Override
      public boolean take(long waitMillis) {
        takes++;
        return redis.set(lock, holder + takes, terms) != null;
      }

      @Override
      public void give() {
        Object deleted = redis.evalsha(give, List.of(lock), List.of(holder + takes));
        PlainLock.check((Long) deleted, lock);
      }
    };
  }

  @Override
  public void threadEnds() {
    connections.closeMine();
  }

  @Override
  public void close() {
    connections.closeAll();
  }
}
