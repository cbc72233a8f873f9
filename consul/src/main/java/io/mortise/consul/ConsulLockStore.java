package io.mortise.consul;

import io.mortise.internal.liveness.ForwardingStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.DocumentStore;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.time.Ticker;
import java.time.InstantSource;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** The store of documents in Consul, and what Consul tells of itself. Thread-safe. */
final class ConsulLockStore extends ForwardingStore {
  private final ConsulGateway gateway;

  private ConsulLockStore(LockStore store, ConsulGateway gateway) {
    super(store);
    this.gateway = gateway;
  }

  /** See {@link ConsulStore#open}. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wallClock) {
    ConsulTarget target = ConsulTarget.parse(url);
    ConsulGateway gateway = new ConsulGateway(target, "requests");
    LongSupplier micros = VersionedDocuments.timeOfDay(ticker, wallClock);
    ConsulDocuments documents = new ConsulDocuments(gateway, target.prefix(), micros);
    ConsulDocuments renewals =
        new ConsulDocuments(new ConsulGateway(target, "renewals"), target.prefix(), micros);
    LockStore store =
        new ConsulLockStore(
            DocumentStore.withoutClock(
                DocumentStore.profileWithoutClock(target.display(), target.timeout()),
                documents,
                renewals,
                ticker,
                wallClock),
            gateway);
    try {
      var unused = documents.checkAccess().toCompletableFuture().join();
    } catch (CompletionException e) {
      store.close();
      throw e.getCause() instanceof RuntimeException known ? known : e;
    }
    return store;
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return new ConsulSettingsReport(gateway).make();
  }

  @Override
  public String toString() {
    return profile().display();
  }
}
