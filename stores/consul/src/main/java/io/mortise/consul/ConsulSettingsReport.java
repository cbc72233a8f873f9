package io.mortise.consul;

import io.mortise.consul.ConsulGateway.ConsulAnswer;
import io.mortise.spi.StoreReport;
import io.mortise.support.internal.document.MajorityReport;
import io.mortise.support.internal.document.ReportingStore;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what Consul tells of itself, as far as it matters for locks. */
final class ConsulSettingsReport {
  private static final Pattern SERVER = Pattern.compile("\"([^\"]+:\\d+)\"");

  private final ConsulGateway gateway;
  private final StoreReport.Builder report = StoreReport.about("consul/memory");

  ConsulSettingsReport(ConsulGateway gateway) {
    this.gateway = gateway;
  }

  CompletionStage<StoreReport> make() {
    CompletionStage<String> agent = ask("/v1/agent/self");
    CompletionStage<String> leader = ask("/v1/status/leader");
    CompletionStage<String> servers = ask("/v1/status/peers");
    return agent.thenCombine(
        leader.thenCombine(servers, ConsulStatus::new),
        (settings, status) -> {
          version(settings);
          storage(settings);
          leader(status.leader());
          MajorityReport.servers(
              report, "servers", (int) SERVER.matcher(status.servers()).results().count());
          acl(settings);
          return report.build();
        });
  }

  private record ConsulStatus(String leader, String servers) {}

  /** Empty if this token may not ask. */
  private CompletionStage<String> ask(String path) {
    return ReportingStore.orElseIfUnfit(gateway.report(path).thenApply(ConsulAnswer::body), "");
  }

  private static String setting(String settings, String name) {
    Matcher value = Pattern.compile('"' + name + "\":\\s*\"?([^\",}]*)").matcher(settings);
    return value.find() ? value.group(1) : "";
  }

  private void version(String settings) {
    String version = setting(settings, "Version");
    if (version.isEmpty()) {
      report.unknown(
          "version",
          "The version is not told to this token.",
          "Allow agent:read, or use Consul 1.8 or later.");
    } else {
      report.fine("version", version, "Tested with 1.8.");
    }
  }

  private void storage(String settings) {
    switch (setting(settings, "DevMode")) {
      case "true" ->
          report.weak(
              "storage",
              "memory",
              "An agent in development mode forgets all locks and tokens when it ends.",
              "Start the servers without -dev, and with -data-dir.",
              "server-crash",
              "power-loss");
      case "false" -> {
        report.mode("consul");
        report.fine("storage", "disk", "Servers force their log to the disk before they answer.");
      }
      default ->
          report.unknown(
              "storage",
              "Whether the agent runs in development mode is not told to this token.",
              "Allow agent:read. Start servers without -dev.",
              "server-crash",
              "power-loss");
    }
  }

  private void leader(String leader) {
    Matcher address = SERVER.matcher(leader);
    if (address.find()) {
      report.fine("leader", address.group(1), "Every read and write goes through it.");
    } else {
      report.weak(
          "leader",
          "none",
          "Consul grants and renews nothing: leases end.",
          "Bring a majority of its servers back.");
    }
  }

  private void acl(String settings) {
    switch (setting(settings, "ACLsEnabled")) {
      case "true" -> report.fine("acl", "enabled", "The token decides who may change locks.");
      case "false" ->
          report.note(
              "acl",
              "disabled",
              "Every program that reaches an agent may change locks.",
              "Enable the ACL system, and give each application a token.");
      default -> report.fine("acl", "enabled", "This token may not read the agent's settings.");
    }
  }
}
