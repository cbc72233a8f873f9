package io.mortise.torture.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LocalServer.LocalCluster;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.ConsulServer.ConsulCluster;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.EtcdServer.EtcdCluster;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.testserver.NatsServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Key-value servers, single and clustered: etcd, Consul, NATS and memcached. */
final class KeyValueDeployments {
  private static final String OWN_CLOCK =
      "a Go program asks the system for the time, past libfaketime";

  private KeyValueDeployments() {}

  /** One etcd. */
  static Optional<StoreDeployment> etcd(Set<InjectedFault> wanted) {
    return EtcdServer.installed()
        .map(
            program ->
                single(
                    wanted,
                    arguments -> EtcdServer.start(program, arguments),
                    "--data-dir",
                    "--auto-compaction-retention=30s",
                    "--snapshot-count=1000",
                    "--max-wals=2"))
        .map(
            made ->
                made.storeDeployment()
                    .can(
                        InjectedFault.FORGET,
                        () ->
                            made.server()
                                .post(
                                    "/v3/kv/deleterange",
                                    "{\"key\":\"%s\",\"range_end\":\"%s\"}"
                                        .formatted(base64("/mortise/"), base64("/mortise0")))));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  /** Three that elect a leader. */
  static Optional<StoreDeployment> etcdCluster() {
    return EtcdServer.installed().map(program -> cluster(EtcdCluster.start(program)));
  }

  /** One Consul server. */
  static Optional<StoreDeployment> consul(Set<InjectedFault> wanted) {
    return ConsulServer.installed()
        .map(
            program ->
                single(
                    wanted,
                    arguments -> ConsulServer.start(program, arguments),
                    "-data-dir",
                    "-hcl=raft_snapshot_threshold=1000 raft_trailing_logs=500"))
        .map(
            made ->
                made.storeDeployment()
                    .can(
                        InjectedFault.FORGET,
                        () -> made.server().send("DELETE", "/v1/kv/mortise/?recurse", "")));
  }

  /** Three that elect a leader. */
  static Optional<StoreDeployment> consulCluster() {
    return ConsulServer.installed().map(program -> cluster(ConsulCluster.start(program)));
  }

  /** One NATS server, which rarely forces its files to the disk. */
  static Optional<StoreDeployment> nats(Set<InjectedFault> wanted) {
    return NatsServer.installed()
        .map(program -> single(wanted, arguments -> NatsServer.start(program, arguments), "-sd"))
        .map(
            made ->
                made.storeDeployment()
                    .can(
                        InjectedFault.FORGET,
                        () -> made.server().ask("$JS.API.STREAM.PURGE.KV_mortise", "{}")));
  }

  /** One memcached that does not evict. */
  static Optional<StoreDeployment> memcached(Set<InjectedFault> wanted) {
    return MemcachedServer.installed().map(program -> memcached(program, wanted));
  }

  private static StoreDeployment memcached(Path program, Set<InjectedFault> wanted) {
    Optional<FakeClock> clock = StoreDeployments.clock(wanted);
    MemcachedServer server =
        StoreDeployments.started(
            () ->
                clock.isPresent()
                    ? MemcachedServer.start(clock.get(), program, "-M")
                    : MemcachedServer.start(program, "-M"),
            List.of(clock));
    StoreDeployment storeDeployment = new StoreDeployment(server.url(), true);
    clock.ifPresent(storeDeployment::owns);
    storeDeployment.owns(server);
    return StoreDeployments.build(
        storeDeployment,
        made -> {
          ServerFaults.only(server, made);
          ServerFaults.clock(clock, made)
              .can(
                  InjectedFault.FORGET,
                  () -> {
                    try (RawMemcachedConnection raw = new RawMemcachedConnection(server.port())) {
                      raw.ask("flush_all");
                    }
                  });
        });
  }

  /** A server, and the deployment that owns it. */
  private record SingleServer<S extends LocalServer>(S server, StoreDeployment storeDeployment) {}

  /**
   * A server with files.
   *
   * @param start with further arguments
   * @param folderOption for the folder
   * @param arguments that keep its history short: a crowd writes some MB per second
   */
  private static <S extends LocalServer> SingleServer<S> single(
      Set<InjectedFault> wanted,
      Function<String[], S> start,
      String folderOption,
      String... arguments) {
    Optional<LossyDisk> disk = StoreDeployments.disk(wanted);
    List<String> all = new ArrayList<>(List.of(arguments));
    disk.ifPresent(
        there -> all.addAll(List.of(folderOption, there.folder().resolve("data").toString())));
    S server =
        StoreDeployments.started(() -> start.apply(all.toArray(String[]::new)), List.of(disk));
    StoreDeployment storeDeployment = new StoreDeployment(server.url(), true);
    disk.ifPresent(storeDeployment::owns);
    storeDeployment.owns(server);
    StoreDeployments.build(
        storeDeployment,
        made ->
            ServerFaults.disk(disk, server, ServerFaults.only(server, made))
                .lacks(InjectedFault.CLOCK_FORWARD, OWN_CLOCK)
                .lacks(InjectedFault.CLOCK_BACK, OWN_CLOCK));
    return new SingleServer<>(server, storeDeployment);
  }

  /** Deploys a cluster. Two of three server faults hit the leader. */
  private static StoreDeployment cluster(LocalCluster<?> cluster) {
    StoreDeployment storeDeployment = new StoreDeployment(cluster.url(0), true).owns(cluster);
    int[] turn = {0};
    return ServerFaults.one(
            () -> {
              int leader = cluster.leaderOfAll();
              return cluster.member(turn[0]++ % 3 == 2 ? (leader + 1) % cluster.size() : leader);
            },
            Duration.ZERO,
            storeDeployment)
        // A failure during the election of the others would be two faults at a time.
        .eachUntil(cluster::leaderOfAll);
  }
}
