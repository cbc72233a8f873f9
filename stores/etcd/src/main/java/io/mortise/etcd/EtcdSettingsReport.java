package io.mortise.etcd;

import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.spi.StoreReport;
import io.mortise.support.internal.document.MajorityReport;
import io.mortise.support.internal.document.ReportingStore;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what etcd tells of itself, as far as it matters for locks. */
final class EtcdSettingsReport {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

  /** The quota unless it is set, 2 GiB: above a half of it somebody should know. */
  private static final long HALF_OF_QUOTA = 1L << 30;

  private static final long MEGABYTE = 1L << 20;

  private final EtcdGateway gateway;
  private final StoreReport.Builder report = StoreReport.about("etcd");

  EtcdSettingsReport(EtcdGateway gateway) {
    this.gateway = gateway;
  }

  CompletionStage<StoreReport> make() {
    CompletionStage<Optional<JsonObject>> status = ask("/v3/maintenance/status", "{}");
    CompletionStage<Optional<JsonObject>> alarms =
        ask("/v3/maintenance/alarm", "{\"action\":\"GET\"}");
    CompletionStage<Optional<JsonObject>> members = ask("/v3/cluster/member/list", "{}");
    return members.thenCombine(
        status.thenCombine(alarms, EtcdStatus::new),
        (cluster, answers) -> {
          int count = cluster.map(told -> told.objects("members").size()).orElse(0);
          version(answers.status(), count);
          size(answers.status());
          alarms(answers.alarms());
          MajorityReport.servers(report, "members", count);
          return report.build();
        });
  }

  private record EtcdStatus(Optional<JsonObject> status, Optional<JsonObject> alarms) {}

  /** The answer of etcd; empty if this user may not ask. */
  private CompletionStage<Optional<JsonObject>> ask(String path, String body) {
    return ReportingStore.orElseIfUnfit(
        gateway.call(path, body).thenApply(Optional::of), Optional.empty());
  }

  private void version(Optional<JsonObject> status, int members) {
    String version = status.map(told -> told.text("version")).orElse("");
    Matcher parts = VERSION.matcher(version);
    if (!parts.matches()) {
      report.unknown(
          "version",
          "The version is not told to this user.",
          "Use etcd 3.4.21 or later, 3.5.5 or later.",
          "power-loss");
    } else if (mayForget(parts) && !MajorityReport.outlivesOne(members)) {
      report.weak(
          "version",
          version,
          "A single server of this version may lose answered writes in a crash (etcd issue 14370).",
          "Use etcd 3.4.21 or later, 3.5.5 or later.",
          "server-crash",
          "power-loss");
    } else {
      report.fine("version", version, "Supported from 3.4.");
    }
  }

  private static boolean mayForget(Matcher version) {
    int minor = Integer.parseInt(version.group(2));
    int patch = Integer.parseInt(version.group(3));
    return version.group(1).equals("3")
        && ((minor == 4 && patch < 21) || (minor == 5 && patch < 5));
  }

  private void size(Optional<JsonObject> status) {
    if (status.isEmpty()) {
      report.unknown(
          "dbSize",
          "The size of the database is not told to this user.",
          "Watch it: at its quota etcd refuses all writes, renewals too.");
      return;
    }
    long size = status.get().number("dbSize");
    String shown = size / MEGABYTE + " MB";
    if (size >= HALF_OF_QUOTA) {
      report.note(
          "dbSize",
          shown,
          "At its quota (2 GB unless --quota-backend-bytes is set) etcd refuses all writes,"
              + " renewals too.",
          "Set --auto-compaction-retention, and defragment.");
    } else {
      report.fine("dbSize", shown, "Far from etcd's usual quota of 2 GB.");
    }
  }

  private void alarms(Optional<JsonObject> alarms) {
    if (alarms.isEmpty()) {
      report.unknown("alarms", "Alarms are not told to this user.", "");
      return;
    }
    String raised =
        alarms.get().objects("alarms").stream()
            .map(alarm -> alarm.text("alarm"))
            .distinct()
            .reduce((one, other) -> one + ", " + other)
            .orElse("");
    if (raised.isEmpty()) {
      report.fine("alarms", "none", "Etcd accepts writes.");
    } else {
      report.weak(
          "alarms",
          raised,
          "Etcd refuses writes, renewals too: leases end.",
          "NOSPACE: compact, defragment, etcdctl alarm disarm. CORRUPT: restore the member.");
    }
  }
}
