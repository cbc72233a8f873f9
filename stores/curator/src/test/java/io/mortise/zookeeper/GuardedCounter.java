package io.mortise.zookeeper;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.StaleTokenException;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.history.AttemptEvent;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.HistoryRecorder;
import io.mortise.testkit.history.Violation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A number in a node that several clients raise, each under the lock and with its token: read, then
 * write one more. Their beliefs are recorded, and judged at the end.
 */
@SuppressWarnings("try") // Closing may be interrupted.
final class GuardedCounter implements AutoCloseable {
  private static final String LOCK = "counter";

  private final String name;
  private final String path;
  private final HistoryRecorder history = new HistoryRecorder();
  private final AtomicInteger attempts = new AtomicInteger();

  /** Surely raised, and perhaps raised: the reply of the write was lost. */
  private final AtomicInteger sure = new AtomicInteger();

  private final AtomicInteger unknown = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> users = new ArrayList<>();
  private volatile boolean ending;

  GuardedCounter(String name) {
    this.name = name;
    this.path = "/counter-" + name;
  }

  /** Adds a simulated process: a client, and a connection to the data. */
  void join(String url, Duration ttl, String servers) {
    users.add(
        threads.submit(
            () -> {
              try (LockClient locks = LockClient.builder().url(url).ttl(ttl).build()) {
                ZooKeeper data = connect(servers);
                while (!ending) {
                  data = data.getState().isAlive() ? data : connect(servers);
                  use(locks, data);
                }
                data.close();
              }
              return null;
            }));
  }

  private static ZooKeeper connect(String servers) throws IOException {
    return new ZooKeeper(servers, 20_000, event -> {});
  }

  private void use(LockClient locks, ZooKeeper data) throws InterruptedException {
    String id = name + "#" + attempts.incrementAndGet();
    history.add(new AttemptEvent.AttemptAsked(System.nanoTime(), id, "p", LOCK, Mode.EXCLUSIVE));
    Lease lease;
    try {
      lease = locks.lock(LOCK).acquireWithin(Duration.ofSeconds(2));
    } catch (LockTimeoutException | StoreUnavailableException e) {
      return;
    }
    long granted = System.nanoTime();
    long believed = granted;
    try {
      long token = lease.token();
      raise(lease, data);
      // The time is read first: a lease that is valid later was valid then.
      long now = System.nanoTime();
      believed = lease.isValid() ? now : believed;
      history.add(new AttemptEvent.AttemptGranted(granted, id, token, believed));
      lease.close();
    } catch (LeaseLostException e) {
      // A legal outcome.
    }
  }

  private void raise(Lease lease, ZooKeeper data) throws InterruptedException {
    boolean writing = false;
    try {
      FencedWrites writes = ZkFence.under(data, "/fences-" + name).enter(lease);
      int value = read(data);
      writing = true;
      byte[] next = Integer.toString(value + 1).getBytes(StandardCharsets.US_ASCII);
      if (value < 0) {
        byte[] one = "1".getBytes(StandardCharsets.US_ASCII);
        writes.create(path, one, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      } else {
        writes.setData(path, next, -1);
      }
      sure.incrementAndGet();
    } catch (StaleTokenException e) {
      // Another client holds by now: nothing was written.
    } catch (KeeperException e) {
      if (writing) {
        unknown.incrementAndGet();
      }
      BoundedWait.pass(Duration.ofMillis(20));
    }
  }

  private int read(ZooKeeper data) throws KeeperException, InterruptedException {
    try {
      return Integer.parseInt(
          new String(data.getData(path, false, null), StandardCharsets.US_ASCII));
    } catch (KeeperException.NoNodeException e) {
      return -1;
    }
  }

  /** Waits until the counter has been raised a few times more. */
  void awaitProgress(String when) {
    int from = sure.get();
    BoundedWait.until(
        Duration.ofSeconds(90),
        "counter " + name + " went on " + when,
        () -> {
          users.stream().filter(Future::isDone).forEach(GuardedCounter::fail);
          return sure.get() > from + 5;
        });
  }

  private static void fail(Future<?> user) {
    try {
      user.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError("A user of the counter gave up.", e);
    }
  }

  /** Ends all use, and returns the violations. */
  List<Violation> end(String servers) throws Exception {
    ending = true;
    for (Future<?> user : users) {
      user.get(90, TimeUnit.SECONDS);
    }
    try (ZooKeeper data = connect(servers)) {
      int value = -1;
      for (int tries = 0; value < 0 && tries < 100; tries++) {
        try {
          value = read(data);
        } catch (KeeperException.ConnectionLossException e) {
          BoundedWait.pass(Duration.ofMillis(100));
        }
      }
      List<Violation> found = new ArrayList<>(HistoryChecks.all(history.events(), false));
      if (value < sure.get() || value > sure.get() + unknown.get()) {
        String counted = "raised " + sure + " times for sure and " + unknown + " perhaps: " + value;
        found.add(new Violation("counter", LOCK, counted, List.of()));
      }
      return found;
    }
  }

  @Override
  public void close() {
    ending = true;
    threads.shutdownNow();
  }
}
