package io.mortise.torture.run;

import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.H2Server;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.MySqlServer;
import io.mortise.testkit.server.PostgresServer;
import io.mortise.testkit.server.ZooKeeperEnsemble;
import io.mortise.testkit.server.ZooKeeperServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Stores that a run can start by itself, each on servers of its own, on free ports. */
final class Sites {
  private static final String TICK = "200";

  private Sites() {}

  /** Starts a store. */
  interface Start {
    /**
     * Starts one; empty if its program is not on this machine.
     *
     * @param folder for embedded stores
     * @param wanted what is to go wrong: clocks and disks for that make servers slower
     */
    Optional<Site> start(Path folder, Set<Fault> wanted);
  }

  /** A clock that can be set, if there is one and it will be. */
  static Optional<FakeClock> clock(Set<Fault> wanted) {
    return wanted.contains(Fault.CLOCK_FORWARD) || wanted.contains(Fault.CLOCK_BACK)
        ? FakeClock.late(Duration.ofSeconds(1))
        : Optional.empty();
  }

  /** A disk that can lose what it has, if there is one and it will. */
  static Optional<LossyDisk> disk(Set<Fault> wanted) {
    return wanted.contains(Fault.POWER_CUT) ? LossyDisk.mount() : Optional.empty();
  }

  /** By name, in the order in which people are told of them. */
  static Map<String, Start> all() {
    Map<String, Start> all = new LinkedHashMap<>();
    all.put("redis", (folder, wanted) -> RedisSites.single("always", wanted));
    all.put("redis-everysec", (folder, wanted) -> RedisSites.single("everysec", wanted));
    all.put("redis-pair", (folder, wanted) -> RedisSites.pair());
    all.put("redis-sentinel", (folder, wanted) -> RedisSites.sentinel());
    all.put("redis-cluster", (folder, wanted) -> RedisSites.cluster());
    all.put("quorum", (folder, wanted) -> RedisSites.quorum(wanted));
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
    return all;
  }

  /** Has what was opened closed if the rest fails. */
  static Site build(Site site, Consumer<Site> steps) {
    try {
      steps.accept(site);
      return site;
    } catch (RuntimeException | Error e) {
      site.close();
      throw e;
    }
  }

  /** Starts a server, and has what it was started with closed if that fails. */
  static <T> T started(Supplier<T> start, List<Optional<? extends AutoCloseable>> with) {
    try {
      return start.get();
    } catch (RuntimeException | Error e) {
      Site opened = new Site("", false);
      with.stream().flatMap(Optional::stream).forEach(opened::owns);
      try {
        opened.close();
      } catch (RuntimeException inVain) {
        e.addSuppressed(inVain);
      }
      throw e;
    }
  }

  private static Site sqlite(Path folder) {
    String url = "jdbc:sqlite:" + folder.resolve("locks.db");
    return new Site(url, false).can(Fault.FORGET, () -> Harms.deleteRows(url));
  }

  private static Site sql(
      LocalServer server, String url, Optional<FakeClock> clock, Optional<LossyDisk> disk) {
    Site site = new Site(url, true);
    disk.ifPresent(site::owns);
    clock.ifPresent(site::owns);
    site.owns(server);
    return build(
        site,
        made -> {
          Harms.only(server, made);
          Harms.clock(clock, made);
          made.can(Fault.FORGET, () -> Harms.deleteRows(url));
        });
  }

  private static Site postgres(Path programs, Set<Fault> wanted) {
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
        site ->
            Harms.disk(disk, server, site)
                .can(
                    Fault.PUSH_LOSS,
                    () ->
                        Harms.execute(
                            url,
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                                + " WHERE pid <> pg_backend_pid() AND query ILIKE 'listen%'")));
  }

  private static Site mysql(Path home, Set<Fault> wanted) {
    Optional<FakeClock> clock = clock(wanted);
    MySqlServer server =
        started(
            () ->
                clock.isPresent() ? MySqlServer.start(home, clock.get()) : MySqlServer.start(home),
            List.of(clock));
    // The tool has MariaDB's driver, which asks for these two.
    String url = server.url() + "&allowPublicKeyRetrieval=true";
    return sql(server, url, clock, Optional.empty())
        .can(Fault.FORGET, () -> Harms.deleteRows(url + "&permitMysqlScheme=true"));
  }

  private static Site mariadb(Path program, Set<Fault> wanted) {
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

  private static Site h2() {
    H2Server server = H2Server.start();
    return sql(server, server.url(), Optional.empty(), Optional.empty());
  }

  private static Site zookeeper() {
    ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
    // Found out, it would be taken for 1.5 s, and sessions would be that much longer.
    Site site = new Site("zk://" + ensemble.address() + "?tick=100ms", true).owns(ensemble);
    int[] turn = {0};
    Harms.one(() -> ensemble.member(turn[0]++ % ensemble.size()), Duration.ZERO, site);
    return site.can(
            Fault.SPLIT,
            (time, outage) -> {
              int leader = ensemble.leader().orElse(0);
              ensemble.cutOff(leader, true);
              Thread.sleep(time.toMillis());
              ensemble.cutOff(leader, false);
            })
        // One that fails while the others still elect would be two faults at a time.
        .eachUntil(ensemble::awaitWhole);
  }

  private static Site curator() {
    ZooKeeperServer server =
        ZooKeeperServer.start(ZooKeeperServer.Setup.single().with("tickTime", TICK));
    Site site =
        new Site("zk+curator://" + server.address() + "?tick=" + TICK + "ms", true).owns(server);
    return Harms.only(server, site);
  }
}
