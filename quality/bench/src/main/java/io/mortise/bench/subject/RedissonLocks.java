package io.mortise.bench.subject;

import io.mortise.bench.subject.Subjects.SubjectStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's RLock with its defaults: without a lease time, so that its watchdog renews. */
final class RedissonLocks implements Subject {
  private final RedissonClient client;

  RedissonLocks(StoreUrls storeUrls) {
    Config config = new Config();
    config.useSingleServer().setAddress(storeUrls.url(SubjectStore.REDIS));
    client = Redisson.create(config);
  }

  @Override
  public LockHandle lockHandle(String lock) {
    return InProcessLock.lockHandle(client.getLock(lock));
  }

  @Override
  public LockHandle groupHandle(List<String> locks) {
    return InProcessLock.lockHandle(
        client.getMultiLock(locks.stream().map(client::getLock).toArray(RLock[]::new)));
  }

  @Override
  public Object hold(String name, long waitMillis) throws InterruptedException {
    RLock lock = client.getLock(name);
    if (!lock.tryLock(waitMillis, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("Lock '" + name + "' was not acquired.");
    }
    return lock;
  }

  @Override
  public void close() {
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
