package io.mortise.curator;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** A process with Curator. Its locks belong to the thread that took them. */
final class CuratorFleetClient extends FleetClient {
  private final MixedFleet mixedFleet;
  private final LockedObject lockedObject;
  private final CuratorFramework client;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final InterProcessMutex mutex;
  private final InterProcessReadWriteLock readWrite;
  private final InterProcessSemaphoreV2 semaphore;
  private @Nullable Future<Boolean> acquiring;
  private @Nullable Lease permit;
  private boolean held;

  CuratorFleetClient(String name, MixedFleet mixedFleet, LockedObject lockedObject) {
    super(name);
    this.mixedFleet = mixedFleet;
    this.lockedObject = lockedObject;
    this.client = mixedFleet.curator();
    mixedFleet.closedLater(thread::shutdownNow);
    String path = mixedFleet.path(LOCK);
    this.mutex = new InterProcessMutex(client, path);
    this.readWrite = new InterProcessReadWriteLock(client, path);
    this.semaphore = new InterProcessSemaphoreV2(client, path, PERMITS);
  }

  private boolean acquire(long millis) throws Exception {
    if (lockedObject == LockedObject.SEMAPHORE) {
      permit = semaphore.acquire(millis, TimeUnit.MILLISECONDS);
      return permit != null;
    }
    return lock().acquire(millis, TimeUnit.MILLISECONDS);
  }

  private InterProcessMutex lock() {
    if (lockedObject == LockedObject.MUTEX) {
      return mutex;
    }
    return part().reads() ? readWrite.readLock() : readWrite.writeLock();
  }

  private <T> T inItsThread(Callable<T> task) throws Exception {
    return MixedFleet.get(thread.submit(task));
  }

  @Override
  int mostPermits() {
    return 1;
  }

  @Override
  void begin() {
    acquiring = thread.submit(() -> acquire(MixedFleet.LONG.toMillis() * 4));
  }

  @Override
  boolean tries(LockShare taken) throws Exception {
    held = inItsThread(() -> acquire(0));
    return held;
  }

  @Override
  boolean holds() {
    Future<Boolean> granting = acquiring;
    if (granting != null && granting.isDone()) {
      acquiring = null;
      try {
        held = granting.get();
      } catch (Exception e) {
        throw new IllegalStateException(this + " could not wait.", e);
      }
    }
    return held;
  }

  @Override
  void leave() throws Exception {
    held = false;
    inItsThread(
        () -> {
          Lease lease = permit;
          permit = null;
          if (lease != null) {
            semaphore.returnLease(lease);
          } else {
            lock().release();
          }
          return true;
        });
  }

  /** An interrupt would do it, after which Curator deletes the node some time later. */
  @Override
  boolean givesUp() {
    return false;
  }

  @Override
  void expires() throws Exception {
    ZooKeeper zooKeeper = client.getZookeeperClient().getZooKeeper();
    mixedFleet.expire(zooKeeper.getSessionId(), zooKeeper.getSessionPasswd());
    // Curator leaves the detection to its user.
    leave();
  }
}
