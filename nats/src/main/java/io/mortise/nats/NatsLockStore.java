package io.mortise.nats;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.liveness.ForwardingStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.document.DocumentStore;
import io.mortise.spi.document.VersionedDocuments;
import io.mortise.spi.time.Ticker;
import io.nats.client.Connection;
import io.nats.client.api.ServerInfo;
import io.nats.client.api.StreamInfo;
import java.time.InstantSource;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** The store of documents in a bucket, and what NATS tells of itself. Thread-safe. */
final class NatsLockStore extends ForwardingStore {
  private static final String OLDEST = "2.9.0";

  private final NatsBucket bucket;
  private final NatsTarget target;

  private NatsLockStore(LockStore store, NatsBucket bucket, NatsTarget target) {
    super(store);
    this.bucket = bucket;
    this.target = target;
  }

  /** See {@link NatsStore#open(String)}. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wallClock) {
    NatsTarget target = NatsTarget.parse(url);
    return over(new NatsBucket(NatsConnector.to(target), target), target, ticker, wallClock);
  }

  /** See {@link NatsStore#open(Connection, String)}. */
  static LockStore over(
      Connection connection, String parameters, Ticker ticker, InstantSource wallClock) {
    if (connection.getStatus() != Connection.Status.CONNECTED) {
      throw new StoreUnavailableException(
          "The connection to NATS is in status " + connection.getStatus() + ". Open it first.");
    }
    ServerInfo server = connection.getServerInfo();
    NatsTarget target =
        NatsTarget.parse("nats:" + server.getHost() + ":" + server.getPort(), parameters);
    return over(new NatsBucket(NatsConnector.of(connection), target), target, ticker, wallClock);
  }

  private static LockStore over(
      NatsBucket bucket, NatsTarget target, Ticker ticker, InstantSource wallClock) {
    LongSupplier micros = VersionedDocuments.timeOfDay(ticker, wallClock);
    LockStore store =
        new NatsLockStore(
            DocumentStore.withoutClock(
                DocumentStore.profileWithoutClock(target.display(), target.timeout()),
                new NatsDocuments(bucket, micros, NatsDocuments.MARKERS_KEPT),
                new NatsDocuments(bucket, micros, NatsDocuments.MARKERS_KEPT),
                ticker,
                wallClock),
            bucket,
            target);
    try {
      check(bucket, target);
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
    return store;
  }

  private static void check(NatsBucket bucket, NatsTarget target) {
    ServerInfo server = bucket.connection().getServerInfo();
    if (server.isOlderThanVersion(OLDEST)) {
      throw new StoreUnfitException(
          "NATS is of version %s (store=%s). Locks need 2.9 or later."
              .formatted(server.getVersion(), target));
    }
    try {
      StreamInfo found = bucket.info("").toCompletableFuture().join();
      if (!found.hasError()) {
        bucket.checkAccess().toCompletableFuture().join();
      }
    } catch (CompletionException e) {
      throw unfit(bucket, target, e.getCause() instanceof RuntimeException known ? known : e);
    }
  }

  private static RuntimeException unfit(
      NatsBucket bucket, NatsTarget target, RuntimeException failure) {
    String told = bucket.connection().getLastError();
    if (NatsBucket.hasNoResponder(failure)) {
      return bucket.withoutJetStream(failure);
    }
    if (failure instanceof StoreUnavailableException
        && told != null
        && told.contains("Permissions Violation")) {
      return new StoreUnfitException(
          "NATS does not let this user use bucket '%s' (store=%s): %s. The page of the store has the permissions."
              .formatted(target.bucket(), target, told),
          failure);
    }
    return failure;
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return bucket.info("").thenApply(this::report);
  }

  private StoreReport report(StreamInfo found) {
    StoreReport.Builder report =
        StoreReport.about("nats")
            .fine(
                "version", bucket.connection().getServerInfo().getVersion(), "Supported from 2.9.");
    if (target.syncAlways()) {
      report.note("sync_interval", "always, by the URL", "No client can find it out.", "");
    } else {
      report.unknown(
          "sync_interval",
          "Servers do not tell it. By default what was answered is forced to the disk every two minutes only.",
          "From 2.10 on, set sync_interval to always in the servers' configuration, and add sync-always=true to the URL.",
          "power-loss");
    }
    if (found.hasError()) {
      return report
          .note("bucket", "none", "The first process that wants a lock makes it.", "")
          .build();
    }
    if (found.getConfiguration().getDenyPurge()) {
      report.note(
          "deny_purge",
          "true",
          "The keys of locks and sessions that have ended stay in the bucket, each as a marker.",
          "Delete the bucket while no lock is held: Mortise makes it anew.");
    }
    int replicas = found.getConfiguration().getReplicas();
    if (replicas == 1) {
      report.note("replicas", "1", "Locks rest while the bucket's server is down.", "");
    } else {
      report.note(
          "replicas",
          Integer.toString(replicas),
          "A leader that has lost the others may answer reads until it notices. No test shows what follows.",
          "Keep the bucket on one server, or compare tokens.",
          "partition-servers");
    }
    return report.build();
  }

  @Override
  public String toString() {
    return profile().display();
  }
}
