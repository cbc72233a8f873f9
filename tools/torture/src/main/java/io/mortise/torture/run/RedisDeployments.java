package io.mortise.torture.run;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisCluster;
import io.mortise.testserver.RedisReplicaPair;
import io.mortise.testserver.RedisSentinels;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Redis servers, single and combined. */
final class RedisDeployments {
  private static final int MEMBERS = 3;
  private static final int MASTERS = 3;

  /** The silence after which a server counts as dead. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  private static final Duration LONGEST_FAILOVER = Duration.ofSeconds(30);

  /** The time for which a restarted member has no vote; longer than a TTL. */
  private static final Duration QUARANTINE = Duration.ofSeconds(4);

  private RedisDeployments() {}

  private static Optional<Path> program() {
    return RedisServer.installed(6);
  }

  private static StoreDeployment admin(RedisServer server, StoreDeployment storeDeployment) {
    return storeDeployment
        .can(InjectedFault.FORGET, () -> server.ask("FLUSHALL"))
        .can(InjectedFault.SCRIPT_FLUSH, () -> server.ask("SCRIPT", "FLUSH"))
        .can(InjectedFault.PUSH_LOSS, () -> server.ask("CLIENT", "KILL", "TYPE", "pubsub"));
  }

  /** One server that writes every change to a log. */
  static Optional<StoreDeployment> single(String fsync, Set<InjectedFault> wanted) {
    return program().map(program -> single(program, fsync, wanted));
  }

  private static StoreDeployment single(Path installed, String fsync, Set<InjectedFault> wanted) {
    Optional<FakeClock> clock = StoreDeployments.clock(wanted);
    Optional<Path> suitable = clock.flatMap(RedisServer::under);
    Path program = suitable.orElse(installed);
    if (suitable.isEmpty()) {
      clock.ifPresent(FakeClock::close);
      clock = Optional.empty();
    }
    return single(program, fsync, clock, StoreDeployments.disk(wanted));
  }

  private static StoreDeployment single(
      Path program, String fsync, Optional<FakeClock> clock, Optional<LossyDisk> disk) {
    List<String> arguments =
        new ArrayList<>(List.of("--appendonly", "yes", "--appendfsync", fsync));
    disk.ifPresent(mounted -> arguments.addAll(List.of("--dir", mounted.folder().toString())));
    String[] all = arguments.toArray(String[]::new);
    RedisServer server =
        StoreDeployments.started(
            () ->
                clock.isPresent()
                    ? RedisServer.start(clock.get(), program, all)
                    : RedisServer.start(program, all),
            List.of(clock, disk));
    StoreDeployment storeDeployment = new StoreDeployment(server.url(), true);
    disk.ifPresent(storeDeployment::owns);
    clock.ifPresent(storeDeployment::owns);
    storeDeployment.owns(server);
    return StoreDeployments.build(
        storeDeployment,
        made -> {
          ServerFaults.only(server, made);
          ServerFaults.clock(clock, made);
          ServerFaults.disk(disk, server, made);
          admin(server, made);
          made.can(
              InjectedFault.RESTART_EMPTY,
              () -> {
                server.kill();
                disk.ifPresent(LossyDisk::empty);
                server.restartEmpty();
              });
        });
  }

  /** A primary and a replica behind one address. */
  static Optional<StoreDeployment> pair() {
    return program()
        .map(
            program -> {
              RedisReplicaPair pair = RedisReplicaPair.start(program);
              return new StoreDeployment(pair.url(), true)
                  .owns(pair)
                  .can(
                      InjectedFault.FAILOVER,
                      (time, outage) -> {
                        pair.lag();
                        Thread.sleep(time.dividedBy(5).toMillis());
                        pair.failOver();
                        pair.addReplica();
                      })
                  .can(InjectedFault.SCRIPT_FLUSH, () -> pair.primary().ask("SCRIPT", "FLUSH"))
                  .can(InjectedFault.FORGET, () -> pair.primary().ask("FLUSHALL"));
            });
  }

  /** Sentinels promote a replica when the master is dead. */
  static Optional<StoreDeployment> sentinel() {
    return program()
        .map(
            program -> {
              RedisSentinels set = RedisSentinels.start(program, SILENCE);
              return new StoreDeployment(set.url(), false)
                  .owns(set)
                  .can(
                      InjectedFault.FAILOVER,
                      (time, outage) -> {
                        RedisServer master = set.master();
                        master.kill();
                        set.awaitMasterOtherThan(master);
                        master.restart();
                        // Until told by a Sentinel, it serves clients with its old data.
                        BoundedWait.until(
                            LONGEST_FAILOVER,
                            "the old master followed the new one",
                            () -> master.says("role", "slave"));
                      })
                  .can(InjectedFault.FORGET, () -> set.master().ask("FLUSHALL"))
                  .can(InjectedFault.SCRIPT_FLUSH, () -> set.master().ask("SCRIPT", "FLUSH"))
                  .can(
                      InjectedFault.PUSH_LOSS,
                      () -> set.master().ask("CLIENT", "KILL", "TYPE", "pubsub"));
            });
  }

  /** Replicas take over from dead masters. */
  static Optional<StoreDeployment> cluster() {
    return program()
        .map(
            program -> {
              RedisCluster cluster = RedisCluster.start(program, MASTERS, true, SILENCE);
              int[] turn = {0};
              return new StoreDeployment(cluster.url(), false)
                  .owns(cluster)
                  .can(
                      InjectedFault.FAILOVER,
                      (time, outage) -> {
                        int slot = turn[0]++ % MASTERS * (RedisCluster.SLOTS / MASTERS) + 1;
                        RedisServer master = cluster.masterOf(slot);
                        master.kill();
                        BoundedWait.until(
                            LONGEST_FAILOVER,
                            "the replica took over",
                            () -> isServedByOther(cluster, slot, master));
                        master.restart();
                        cluster.awaitWhole();
                      })
                  .can(
                      InjectedFault.FORGET,
                      () -> {
                        for (int i = 0; i < MASTERS; i++) {
                          cluster.masterOf(i * (RedisCluster.SLOTS / MASTERS) + 1).ask("FLUSHALL");
                        }
                      })
                  .can(
                      InjectedFault.PUSH_LOSS,
                      () ->
                          cluster
                              .nodes()
                              .forEach(node -> node.ask("CLIENT", "KILL", "TYPE", "pubsub")))
                  .can(
                      InjectedFault.SCRIPT_FLUSH,
                      () -> cluster.nodes().forEach(node -> node.ask("SCRIPT", "FLUSH")));
            });
  }

  private static boolean isServedByOther(RedisCluster cluster, int slot, RedisServer master) {
    try {
      return cluster.masterOf(slot) != master;
    } catch (IllegalStateException e) {
      // There is no master yet.
      return false;
    }
  }

  /** Independent servers, of which one at a time has a fault. */
  static Optional<StoreDeployment> quorum(Set<InjectedFault> wanted) {
    return program()
        .map(
            program -> {
              List<RedisServer> members = new ArrayList<>();
              Optional<FakeClock> clock = StoreDeployments.clock(wanted);
              Optional<Path> suitable = clock.flatMap(RedisServer::under);
              for (int i = 0; i < MEMBERS; i++) {
                String[] durable = {"--appendonly", "yes", "--appendfsync", "always"};
                boolean seesClock = i == 0 && suitable.isPresent();
                members.add(
                    StoreDeployments.started(
                        () ->
                            seesClock
                                ? RedisServer.start(clock.orElseThrow(), suitable.get(), durable)
                                : RedisServer.start(program, durable),
                        List.of(clock)));
              }
              String url = members.stream().map(RedisServer::url).collect(Collectors.joining(","));
              StoreDeployment storeDeployment =
                  new StoreDeployment(
                      "quorum:" + url + "?quarantine=" + QUARANTINE.toSeconds() + "s", true);
              clock.ifPresent(storeDeployment::owns);
              members.forEach(storeDeployment::owns);
              int[] turn = {0};
              ServerFaults.one(() -> members.get(turn[0]++ % MEMBERS), QUARANTINE, storeDeployment);
              return ServerFaults.clock(suitable.flatMap(there -> clock), storeDeployment)
                  .can(
                      InjectedFault.SCRIPT_FLUSH,
                      () -> members.forEach(member -> member.ask("SCRIPT", "FLUSH")));
            });
  }
}
