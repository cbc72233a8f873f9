package io.mortise.torture.run;

import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.H2Server;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.ZooKeeperEnsemble;
import io.mortise.testserver.ZooKeeperServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Stores that a run can start, each on new servers, on free ports. */
final class StoreDeployments {
  private static final String TICK = "200";

  private StoreDeployments() {}

  /** Starts a store. */
  interface DeploymentStarter {
    /**
     * Starts a store; empty if its program is not installed.
     *
     * @param folder for embedded stores
     * @param wanted the faults to be injected: their clocks and disks make servers slower
     */
    Optional<StoreDeployment> start(Path folder, Set<InjectedFault> wanted);
  }

  /** A settable clock, if available and wanted. */
  static Optional<FakeClock> clock(Set<InjectedFault> wanted) {
    return wanted.contains(InjectedFault.CLOCK_FORWARD) || wanted.contains(InjectedFault.CLOCK_BACK)
        ? FakeClock.late(Duration.ofSeconds(1))
        : Optional.empty();
  }

  /** A disk that can lose writes, if available and wanted. */
  static Optional<LossyDisk> disk(Set<InjectedFault> wanted) {
    return wanted.contains(InjectedFault.POWER_CUT) ? LossyDisk.mount() : Optional.empty();
  }

  /** All stores by name, in the order of listings. */
  static Map<String, DeploymentStarter> all() {
    Map<String, DeploymentStarter> all = new LinkedHashMap<>();
    all.put("redis", (folder, wanted) -> RedisDeployments.single("always", wanted));
    all.put("redis-everysec", (folder, wanted) -> RedisDeployments.single("everysec", wanted));
    all.put("redis-pair", (folder, wanted) -> RedisDeployments.pair());
    all.put("redis-sentinel", (folder, wanted) -> RedisDeployments.sentinel());
    all.put("redis-cluster", (folder, wanted) -> RedisDeployments.cluster());
    all.put("quorum", (folder, wanted) -> RedisDeployments.quorum(wanted));
    all.put("sqlite", (folder, wanted) -> Optional.of(sqlite(folder)));
    all.put(
        "postgresql",
        (folder, wanted) -> PostgresServer.installed().map(programs -> postgres(programs, wanted)));
    all.put("mysql", (folder, wanted) -> MySqlServer.bundled().map(home -> mysql(home, wanted)));
    all.put(
        "mariadb",
        (folder, wanted) -> MariaDbServer.installed().map(program -> mariadb(program, wanted)));
    all.put("h2", (folder, wanted) -> H2Server.isThere() ? Optional.of(h2()) : Optional.empty());
    all.put("zookeeper", (folder, wanted) -> Optional.of(zookeeper()));
    all.put("curator", (folder, wanted) -> Optional.of(curator()));
    all.put("etcd", (folder, wanted) -> KeyValueDeployments.etcd(wanted));
    all.put("etcd-cluster", (folder, wanted) -> KeyValueDeployments.etcdCluster());
    all.put("consul", (folder, wanted) -> KeyValueDeployments.consul(wanted));
    all.put("consul-cluster", (folder, wanted) -> KeyValueDeployments.consulCluster());
    all.put("nats", (folder, wanted) -> KeyValueDeployments.nats(wanted));
    all.put("memcached", (folder, wanted) -> KeyValueDeployments.memcached(wanted));
    return all;
  }

  /** Builds a deployment; closes opened resources on failure. */
  static StoreDeployment build(StoreDeployment storeDeployment, Consumer<StoreDeployment> steps) {
    try {
      steps.accept(storeDeployment);
      return storeDeployment;
    } catch (RuntimeException | Error e) {
      storeDeployment.close();
      throw e;
    }
  }

  /** Starts a server; closes the resources passed to it on failure. */
  static <T> T started(Supplier<T> start, List<Optional<? extends AutoCloseable>> with) {
    try {
      return start.get();
    } catch (RuntimeException | Error e) {
      StoreDeployment opened = new StoreDeployment("", false);
      with.stream().flatMap(Optional::stream).forEach(opened::owns);
      try {
        opened.close();
      } catch (RuntimeException inVain) {
        e.addSuppressed(inVain);
      }
      throw e;
    }
  }

  private static StoreDeployment sqlite(Path folder) {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    return new StoreDeployment(url, false)
        .can(InjectedFault.FORGET, () -> ServerFaults.deleteRows(url));
  }

  private static StoreDeployment sql(
      LocalServer server, String url, Optional<FakeClock> clock, Optional<LossyDisk> disk) {
    StoreDeployment storeDeployment = new StoreDeployment(url, true);
    disk.ifPresent(storeDeployment::owns);
    clock.ifPresent(storeDeployment::owns);
    storeDeployment.owns(server);
    return build(
        storeDeployment,
        made -> {
          ServerFaults.only(server, made);
          ServerFaults.clock(
              clock,
              server instanceof PostgresServer ? Optional.of(server) : Optional.empty(),
              made);
          made.can(InjectedFault.FORGET, () -> ServerFaults.deleteRows(url));
        });
  }

  private static StoreDeployment postgres(Path programs, Set<InjectedFault> wanted) {
    Optional<FakeClock> clock = clock(wanted);
    Optional<LossyDisk> disk = disk(wanted);
    PostgresServer server =
        started(
            () ->
                disk.isPresent()
                    ? PostgresServer.start(programs, disk.get(), clock)
                    : clock.isPresent()
                        ? PostgresServer.start(programs, clock.get())
                        : PostgresServer.start(programs),
            List.of(clock, disk));
    String url = server.url();
    return build(
        sql(server, url, clock, disk),
        storeDeployment ->
            ServerFaults.disk(disk, server, storeDeployment)
                .can(
                    InjectedFault.PUSH_LOSS,
                    () ->
                        ServerFaults.execute(
                            url,
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                + " WHERE pid <> pg_backend_pid() AND query ILIKE 'listen%'")));
  }

  private static StoreDeployment mysql(Path home, Set<InjectedFault> wanted) {
    Optional<FakeClock> clock = clock(wanted);
    MySqlServer server =
        started(
            () ->
                clock.isPresent() ? MySqlServer.start(home, clock.get()) : MySqlServer.start(home),
            List.of(clock));
    // The tool has MariaDB's driver, which requires these two.
    String url = server.url() + "&allowPublicKeyRetrieval=true";
    return sql(server, url, clock, Optional.empty())
        .can(InjectedFault.FORGET, () -> ServerFaults.deleteRows(url + "&permitMysqlScheme=true"));
  }

  private static StoreDeployment mariadb(Path program, Set<InjectedFault> wanted) {
    Optional<FakeClock> clock = clock(wanted);
    MariaDbServer server =
        started(
            () ->
                clock.isPresent()
                    ? MariaDbServer.start(program, clock.get())
                    : MariaDbServer.start(program),
            List.of(clock));
    return sql(server, server.url(), clock, Optional.empty());
  }

  private static StoreDeployment h2() {
    H2Server server = H2Server.start();
    return build(
        new StoreDeployment(server.url(), true).owns(server),
        made -> ServerFaults.only(server, made));
  }

  private static StoreDeployment zookeeper() {
    ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
    // A detected tick would be taken as 1.5 s, and sessions would be that much longer.
    StoreDeployment storeDeployment =
        new StoreDeployment("zk://" + ensemble.address() + "?tick=100ms", true).owns(ensemble);
    int[] turn = {0};
    ServerFaults.one(
        () -> ensemble.member(turn[0]++ % ensemble.size()), Duration.ZERO, storeDeployment);
    return storeDeployment
        .can(
            InjectedFault.SPLIT,
            (time, outage) -> {
              int leader = ensemble.leader().orElse(0);
              ensemble.cutOff(leader, true);
              Thread.sleep(time.toMillis());
              ensemble.cutOff(leader, false);
            })
        // One that fails while the others still elect would be two faults at a time.
        .eachUntil(ensemble::awaitWhole);
  }

  private static StoreDeployment curator() {
    ZooKeeperServer server =
        ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", TICK));
    StoreDeployment storeDeployment =
        new StoreDeployment("zk+curator://" + server.address() + "?tick=" + TICK + "ms", true)
            .owns(server);
    return ServerFaults.only(server, storeDeployment);
  }
}
