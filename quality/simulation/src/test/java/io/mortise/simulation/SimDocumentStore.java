package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStoreOpener;
import io.mortise.support.document.VersionedDocuments;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A process's connection to the documents, on which the kit builds the store. */
final class SimDocumentStore extends SimStore {
  private static final int SWEPT_AT_ONCE = 256;

  private final SimDocumentServer server;
  private final LockStore store;
  private final SplittableRandom random;

  SimDocumentStore(
      VirtualTimeScheduler virtualTimeScheduler,
      SimDocumentServer server,
      SimProcess simProcess,
      SimTransport wire,
      SplittableRandom random) {
    super(virtualTimeScheduler, server, simProcess, wire, profile(server.settings));
    this.server = server;
    this.random = random;
    long offset = server.hasClock ? 0 : server.hostOffset();
    Ticker observer =
        server.flaw == DocumentFlaw.COUNTS_HALF_A_TTL
            ? () -> 2 * simProcess.host.nanos()
            : simProcess.host::nanos;
    long begin = simProcess.host.nanos();
    this.store =
        DocumentStoreOpener.open(
            profile(),
            new RemoteDocuments(requests, offset),
            new RemoteDocuments(renewals, offset),
            server.hasClock ? null : observer,
            () -> (simProcess.host.nanos() - begin + simProcess.host.suspended()) / 1000,
            millis -> task -> later(millis * VirtualTimeScheduler.MILLI, task),
            server.mostInFront,
            server.flaw == null ? null : server.flaw.rule);
    if (server.isSwept) {
      sweepLater();
    }
  }

  static StoreProfile profile(SimSettings settings) {
    return new StoreProfile(
        "sim",
        settings.capabilities,
        Duration.ofNanos(settings.maxInFlight),
        Duration.ofMillis(500),
        Duration.ofMillis(10));
  }

  private void later(long most, Runnable task) {
    virtualTimeScheduler.at(virtualTimeScheduler.now() + random.nextLong(most), simProcess, task);
  }

  private void sweepLater() {
    later(
        2 * server.settings.ttl,
        () -> {
          if (!simProcess.closed) {
            // Also out of turn: concurrent sweeps do no harm.
            var swept =
                random.nextBoolean()
                    ? claimSweep().thenCompose(ours -> sweep(SWEPT_AT_ONCE))
                    : sweep(SWEPT_AT_ONCE);
            swept.whenComplete((removed, failure) -> sweepLater());
          }
        });
  }

  void push(Runnable changed) {
    if (canPush()) {
      pushes.push(changed);
    }
  }

  @Override
  StoreSession connect(SessionSpec spec) {
    return store.open(spec, notification -> deliver(spec.id(), notification));
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return store.judge(session);
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return store.inspect(query);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return store.evict(name, attempt, how);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return store.sweep(budget);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return store.claimSweep();
  }

  /** The server's documents on one lane. */
  private final class RemoteDocuments implements VersionedDocuments {
    private final SimConnection lane;

    /** The offset of this host's time of day. */
    private final long offset;

    RemoteDocuments(SimConnection lane, long offset) {
      this.lane = lane;
      this.offset = offset;
    }

    private <T> CompletionStage<T> ask(Supplier<T> step) {
      CompletableFuture<T> future = new CompletableFuture<>();
      lane.send(step, future::complete, failure -> future.completeExceptionally(failure.cause()));
      return future;
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return ask(() -> server.read(key));
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return ask(() -> server.compareAndSet(key, found, text));
    }

    @Override
    public boolean writesTogether() {
      return server.writesTogether;
    }

    @Override
    public CompletionStage<List<Written>> compareAndSetAll(List<DocumentWrite> writes) {
      return ask(() -> server.compareAndSetAll(writes));
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return ask(() -> server.scan(prefix, after, limit));
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return server.watch(key, SimDocumentStore.this, changed);
    }

    @Override
    public long micros() {
      return server.micros() + offset;
    }
  }
}
