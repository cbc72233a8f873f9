package io.mortise.redis.sharded;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.time.Ticker;
import io.mortise.support.partition.PartitionRouter;
import io.mortise.support.partition.RendezvousHash;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Locks spread over independent servers by {@link RendezvousHash}: each name lives on one server,
 * which knows nothing of the others.
 *
 * <p><b>A server that dies takes its names with it.</b> They cannot be locked until it is back;
 * other names are unaffected. Moving them to another server at once could grant a lock to a second
 * holder while the first still believes in it, and for good if the server is only unreachable. So
 * the list of servers is stored on each of them, and a client with another list is refused. An
 * operator changes the list explicitly ({@code move}); the names that move are then shut for that
 * long.
 */
public final class ShardedStore implements PartitionRouter {
  private final RendezvousHash rendezvousHash;
  private final List<ShardStore> shardStores;
  private final StoreProfile profile;
  private final ScheduledExecutorService reconnecting;

  /**
   * Connects to all servers at once. Blocks. A server that cannot be reached is retried, and its
   * names fail until then.
   *
   * @param profile the abilities of the servers
   * @throws StoreUnavailableException if none can be reached
   * @throws StoreUnfitException if one must not be used, or has another list of servers
   */
  public ShardedStore(List<Shard> shards, ShardList list, StoreProfile profile, Ticker ticker) {
    this.profile = profile;
    this.rendezvousHash = new RendezvousHash(shards.stream().map(Shard::id).toList());
    this.reconnecting =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("mortise-redis-shards"));
    this.shardStores =
        shards.stream()
            .map(shard -> new ShardStore(shard, list, profile, ticker, reconnecting))
            .toList();
    try {
      connectAll();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private void connectAll() {
    List<CompletableFuture<Void>> connecting = new ArrayList<>();
    for (ShardStore part : shardStores) {
      CompletableFuture<Void> connected = new CompletableFuture<>();
      connecting.add(connected);
      Runnable connect =
          () -> {
            try {
              part.connect();
              connected.complete(null);
            } catch (RuntimeException e) {
              connected.completeExceptionally(e);
            }
          };
      DaemonThreads.create("mortise-redis-connect", connect).start();
    }
    StoreUnavailableException unreachable = null;
    int reached = 0;
    for (int i = 0; i < shardStores.size(); i++) {
      try {
        connecting.get(i).join();
        reached++;
      } catch (CompletionException e) {
        if (!(e.getCause() instanceof StoreUnavailableException unavailable)) {
          throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
        unreachable = unavailable;
      }
    }
    if (reached == 0 && unreachable != null) {
      throw unreachable;
    }
    shardStores.forEach(ShardStore::keepConnecting);
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public int partitions() {
    return shardStores.size();
  }

  @Override
  public int partitionOf(LockName name) {
    return rendezvousHash.of(name);
  }

  @Override
  public LockStore partition(int number) {
    return shardStores.get(number);
  }

  /** The report of the first server; the others should have the same settings. */
  @Override
  public CompletionStage<StoreReport> examine() {
    return shardStores
        .get(0)
        .examine()
        .thenApply(
            one -> {
              StoreReport.Builder report = StoreReport.about("redis-sharded");
              report.note(
                  "servers",
                  "one of them",
                  "Settings are those of one server; the others should have the same.",
                  "");
              one.findings().forEach(report::add);
              return report.build();
            });
  }

  @Override
  public void close() {
    reconnecting.shutdownNow();
    shardStores.forEach(ShardStore::close);
  }

  @Override
  public String toString() {
    return profile.display();
  }
}
