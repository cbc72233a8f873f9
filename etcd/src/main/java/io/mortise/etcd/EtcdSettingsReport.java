package io.mortise.etcd;

import io.mortise.StoreUnavailableException;
import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.StoreReport;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads what etcd tells of itself, as far as it matters for locks. */
final class EtcdSettingsReport {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

  /** The quota unless it is set, 2 GiB: above a half of it somebody should know. */
  private static final long HALF_OF_QUOTA = 1L << 30;

  private static final long MEGABYTE = 1L << 20;
  private static final int MAJORITY = 3;

  private final EtcdGateway gateway;
  private final StoreReport.Builder report = StoreReport.about("etcd");

  EtcdSettingsReport(EtcdGateway gateway) {
    this.gateway = gateway;
  }

  CompletionStage<StoreReport> make() {
    CompletionStage<Answer> status = ask("/v3/maintenance/status", "{}");
    CompletionStage<Answer> alarms = ask("/v3/maintenance/alarm", "{\"action\":\"GET\"}");
    CompletionStage<Answer> members = ask("/v3/cluster/member/list", "{}");
    return status.thenCombine(
        alarms.thenCombine(members, Others::new),
        (about, others) -> {
          int count = others.members().found().objects("members").size();
          version(about, count);
          size(about);
          alarms(others.alarms());
          members(others.members(), count);
          return report.build();
        });
  }

  /** What etcd tells, or why it does not; empty if it does. */
  private record Answer(JsonObject found, String refusal) {}

  private record Others(Answer alarms, Answer members) {}

  private CompletionStage<Answer> ask(String path, String body) {
    return gateway.call(path, body).handle(EtcdSettingsReport::answer);
  }

  private static Answer answer(@Nullable JsonObject found, @Nullable Throwable failure) {
    if (found != null) {
      return new Answer(found, "");
    }
    Throwable cause = CompletionStages.cause(failure);
    if (cause instanceof StoreUnavailableException
        && !(cause.getCause() instanceof GatewayException)) {
      throw new CompletionException(cause);
    }
    return new Answer(JsonReader.read("{}"), "This user may not ask.");
  }

  private void version(Answer status, int members) {
    String version = status.found().text("version");
    Matcher parts = VERSION.matcher(version);
    if (!parts.matches()) {
      report.unknown(
          "version",
          "The version is not told. " + status.refusal(),
          "Use etcd 3.4.21 or later, 3.5.5 or later.",
          "power-loss");
    } else if (mayForget(parts) && members < MAJORITY) {
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

  private void size(Answer status) {
    if (!status.refusal().isEmpty()) {
      report.unknown(
          "dbSize",
          "The size of the database is not told. " + status.refusal(),
          "Watch it: at its quota etcd refuses all writes, renewals too.");
      return;
    }
    long size = status.found().number("dbSize");
    String shown = size / MEGABYTE + " MB";
    if (size >= HALF_OF_QUOTA) {
      report.note(
          "dbSize",
          shown,
          "At its quota (2 GB unless --quota-backend-bytes is set) etcd refuses all writes, renewals too.",
          "Set --auto-compaction-retention, and defragment.");
    } else {
      report.fine("dbSize", shown, "Far from etcd's usual quota of 2 GB.");
    }
  }

  private void alarms(Answer alarms) {
    if (!alarms.refusal().isEmpty()) {
      report.unknown("alarms", "Alarms are not told. " + alarms.refusal(), "");
      return;
    }
    String raised =
        alarms.found().objects("alarms").stream()
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

  private void members(Answer members, int count) {
    if (count == 0) {
      report.unknown("members", "The members are not told. " + members.refusal(), "");
    } else if (count < MAJORITY) {
      report.note(
          "members",
          Integer.toString(count),
          "Locks rest while one of them is down.",
          "Run three or five members.");
    } else {
      report.fine(
          "members", Integer.toString(count), "Locks go on while a minority of them is down.");
    }
  }
}
