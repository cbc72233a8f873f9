package io.mortise.bench.subject;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}, an object per thread. */
final class CuratorLocks implements Subject {
  private final CuratorFramework curator;

  CuratorLocks(StoreUrls storeUrls) throws InterruptedException {
    curator =
        CuratorFrameworkFactory.newClient(
            storeUrls.zooKeeperServers(),
            SequentialNodeLock.SESSION_MILLIS,
            10_000,
            new ExponentialBackoffRetry(100, 3));
    curator.start();
    if (!curator.blockUntilConnected(10, TimeUnit.SECONDS)) {
      curator.close();
      throw new IllegalStateException("Curator did not connect.");
    }
  }

  @Override
  public LockHandle lockHandle(String lock) {
    return lockHandle(new InterProcessMutex(curator, path(lock)));
  }

  @Override
  public LockHandle groupHandle(List<String> locks) {
    return lockHandle(
        new InterProcessMultiLock(curator, locks.stream().map(CuratorLocks::path).toList()));
  }

  private static String path(String lock) {
    return "/curator/" + lock;
  }

  private static LockHandle lockHandle(InterProcessLock lock) {
    return new LockHandle() {
      @Override
      public boolean take(long waitMillis) throws Exception {
        return lock.acquire(waitMillis, TimeUnit.MILLISECONDS);
      }

      @Override
      public void release() throws Exception {
        lock.release();
      }
    };
  }

  @Override
  public void close() {
    curator.close();
  }
}
