package io.mortise.etcd;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.liveness.ForwardingStore;
import io.mortise.internal.storekit.TlsProbe;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.DocumentStore;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.time.Ticker;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** The store of documents in etcd, and what etcd tells of itself. Thread-safe. */
final class EtcdLockStore extends ForwardingStore {
  private final EtcdGateway gateway;

  private EtcdLockStore(LockStore store, EtcdGateway gateway) {
    super(store);
    this.gateway = gateway;
  }

  /** See {@link EtcdStore#open}. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wallClock) {
    EtcdTarget target = EtcdTarget.parse(url);
    EtcdGateway gateway = new EtcdGateway(target, "requests");
    LongSupplier micros = VersionedDocuments.timeOfDay(ticker, wallClock);
    EtcdDocuments documents = new EtcdDocuments(gateway, target.prefix(), micros, ticker);
    EtcdDocuments renewals =
        new EtcdDocuments(new EtcdGateway(target, "renewals"), target.prefix(), micros, ticker);
    LockStore store =
        new EtcdLockStore(
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
      RuntimeException cause = e.getCause() instanceof RuntimeException known ? known : e;
      throw wantsTls(target, cause)
          ? new StoreUnfitException(
              "Etcd speaks TLS, and the URL does not (store=%s). Add tls=true.".formatted(target),
              cause)
          : cause;
    }
    return store;
  }

  /** A member that speaks TLS says nothing to what is none. */
  private static boolean wantsTls(EtcdTarget target, RuntimeException failure) {
    return !target.isTls()
        && failure instanceof StoreUnavailableException
        && target.members().stream()
            .map(member -> new InetSocketAddress(member.getHost(), member.getPort()))
            .anyMatch(
                member -> TlsProbe.askInTls(member, target.timeout()) == TlsProbe.ProbeAnswer.YES);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return new EtcdSettingsReport(gateway).make();
  }

  @Override
  public String toString() {
    return profile().display();
  }
}
