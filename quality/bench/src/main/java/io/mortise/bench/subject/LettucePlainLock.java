package io.mortise.bench.subject;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** The plain lock by Lettuce, whose one connection all threads share. */
final class LettucePlainLock implements Subject {
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final String release;

  LettucePlainLock(StoreUrls storeUrls) {
    client = RedisClient.create(storeUrls.url(SubjectStore.REDIS));
    connection = client.connect();
    release = connection.sync().scriptLoad(PlainLock.GIVE);
  }

  @Override
  public LockHandle lockHandle(String lock) {
    RedisCommands<String, String> redis = connection.sync();
    String holder = UUID.randomUUID() + "/";
    SetArgs terms = SetArgs.Builder.nx().px(PlainLock.LEASE_MILLIS);
    return new LockHandle() {
      private long takes;

      @Override
      public boolean take(long waitMillis) {
        takes++;
        return redis.set(lock, holder + takes, terms) != null;
      }

      @Override
      public void release() {
        Long deleted =
            redis.evalsha(release, ScriptOutputType.INTEGER, new String[] {lock}, holder + takes);
        PlainLock.check(deleted, lock);
      }
    };
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
