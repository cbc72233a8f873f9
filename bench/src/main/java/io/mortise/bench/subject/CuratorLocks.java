package io.mortise.bench.subject;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}, an object per thread. */
final class CuratorLocks implements Subject {
  private final CuratorFramework curator;

  CuratorLocks(Stores stores) throws InterruptedException {
    curator =
        CuratorFrameworkFactory.newClient(
            stores.zooKeeperServers(),
            NodePair.SESSION_MILLIS,
            10_000,
            new ExponentialBackoffRetry(100, 3));
    curator.start();
    if (!curator.blockUntilConnected(10, TimeUnit.SECONDS)) {
      curator.close();
      throw new IllegalStateException("Curator did not connect.");
    }
  }

  @Override
  public Grip grip(String lock) {
    InterProcessMutex mutex = new InterProcessMutex(curator, "/curator/" + lock);
    return new Grip() {
      @Override
      public boolean take(long waitMillis) throws Exception {
        return mutex.acquire(waitMillis, TimeUnit.MILLISECONDS);
      }

      @Override
      public void give() throws Exception {
        mutex.release();
      }
    };
  }

  @Override
  public void close() {
    curator.close();
  }
}
