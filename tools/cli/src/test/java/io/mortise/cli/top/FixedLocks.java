package io.mortise.cli.top;

import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.admin.StoreInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A store that has these locks, or does not answer. */
final class FixedLocks implements LockAdmin {
  final Map<String, LockInfo> locks = new ConcurrentHashMap<>();
  final List<String> done = new CopyOnWriteArrayList<>();
  final AtomicInteger finds = new AtomicInteger();
  volatile EvictionResult result = EvictionResult.HOLD_ENDED;
  volatile boolean away;

  /** Blocks requests until it is opened. */
  volatile CountDownLatch standing = new CountDownLatch(0);

  @Override
  public Optional<LockInfo> find(String name) {
    finds.incrementAndGet();
    try {
      standing.await();
    } catch (InterruptedException e) {
      throw new StoreUnavailableException("The test is over.");
    }
    answer();
    return Optional.ofNullable(locks.get(name));
  }

  private void answer() {
    if (away) {
      throw new StoreUnavailableException("The store is away for a test.");
    }
  }

  @Override
  public Page<SessionInfo> sessions(@Nullable String cursor, int limit) {
    answer();
    throw new UnsupportedOperationException();
  }

  @Override
  public Page<LockInfo> list(LockQuery query) {
    return new Page<>(List.copyOf(locks.values()), null);
  }

  @Override
  public EvictionResult evict(String name, String attempt, Eviction how) {
    answer();
    done.add(how + " " + name + " " + attempt);
    return result;
  }

  @Override
  public boolean reopen(String name) {
    answer();
    done.add("open " + name);
    return true;
  }

  @Override
  public StoreInfo store() {
    return new StoreInfo("fixed", Set.of(), Duration.ofSeconds(1));
  }
}
