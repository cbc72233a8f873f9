package io.mortise.nats;

import io.mortise.spi.StoreReport;
import io.nats.client.api.StreamInfo;
import java.util.concurrent.CompletionStage;

/** Reads what NATS tells of itself, as far as it matters for locks. */
final class NatsSettingsReport {
  private final NatsBucket bucket;
  private final NatsTarget target;

  NatsSettingsReport(NatsBucket bucket, NatsTarget target) {
    this.bucket = bucket;
    this.target = target;
  }

  CompletionStage<StoreReport> make() {
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
    report.note(
        "replicas", "1", "No lock is granted or renewed while the bucket's server is down.", "");
    return report.build();
  }
}
