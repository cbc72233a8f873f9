package io.mortise.memcached;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.partition.PartitionRouter;
import io.mortise.support.partition.RendezvousHash;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Locks spread over servers that know nothing of each other: each name lives on one, which {@link
 * RendezvousHash} chooses. A server that dies takes its names with it until it is back.
 */
final class MemcachedServers implements PartitionRouter {
  private final List<MemcachedLockStore> stores;
  private final StoreProfile profile;
  private final RendezvousHash hash;

  private MemcachedServers(List<MemcachedLockStore> stores, List<MemcachedTarget> targets) {
    this.stores = stores;
    List<String> servers = targets.stream().map(MemcachedTarget::server).toList();
    this.profile =
        MemcachedLockStore.profile("memcached:" + String.join(",", servers), targets.get(0));
    this.hash = new RendezvousHash(servers);
  }

  /** Opens the server or the servers of a URL, all at once. Blocks. */
  static LockStore connect(StoreUrl url, Ticker ticker) {
    List<MemcachedTarget> targets = MemcachedTarget.parse(url);
    List<MemcachedLockStore> stores =
        targets.stream()
            .map(target -> new MemcachedLockStore(target, ticker))
            .collect(Collectors.toList());
    try {
      awaitAny(stores);
    } catch (RuntimeException e) {
      stores.forEach(MemcachedLockStore::close);
      throw e;
    }
    return stores.size() == 1 ? stores.get(0) : new MemcachedServers(stores, targets);
  }

  /** Waits for all. Fails if one is unfit, or if none can be reached. */
  private static void awaitAny(List<MemcachedLockStore> stores) {
    RuntimeException unreachable = null;
    int reached = 0;
    for (MemcachedLockStore store : stores) {
      try {
        store.firstTry().join();
        reached++;
      } catch (CompletionException e) {
        unreachable = store.unreachable(e);
        if (!(unreachable instanceof StoreUnavailableException)) {
          throw unreachable;
        }
      }
    }
    if (reached == 0 && unreachable != null) {
      throw unreachable;
    }
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public void checkTtl(Duration ttl) {
    stores.get(0).checkTtl(ttl);
  }

  @Override
  public int partitions() {
    return stores.size();
  }

  @Override
  public int partitionOf(LockName name) {
    return hash.of(name);
  }

  @Override
  public LockStore partition(int number) {
    return stores.get(number);
  }

  /** Reports the settings of the first server; the others should be set alike. */
  @Override
  public CompletionStage<StoreReport> examine() {
    return stores
        .get(0)
        .examine()
        .thenApply(
            first -> {
              StoreReport.Builder report = StoreReport.about(first.mode());
              report.note(
                  "servers",
                  "one of " + stores.size(),
                  "Settings are those of one server; the others should have the same.",
                  "");
              first.findings().forEach(report::add);
              return report.build();
            });
  }

  @Override
  public void close() {
    stores.forEach(MemcachedLockStore::close);
  }

  @Override
  public String toString() {
    return profile.display();
  }
}
