package io.mortise.torture.hazards;

import java.util.List;
import java.util.Optional;

/** All stories. */
public final class HazardCatalog {
  private static final List<Hazard> ALL =
      List.of(
          new Hazard(
              "gc-pause",
              "A holder stands still for longer than its lock lives, wakes up and writes",
              "M. Kleppmann, How to do distributed locking, 2016; Apache Curator, Tech Note 10",
              "redis-server",
              true,
              new GcPause()),
          new Hazard(
              "expired-release",
              "A holder whose time is over releases the lock of its successor",
              "Redis documentation, Distributed locks; pitfall of every lock that is released by"
                  + " name",
              "redis-server",
              true,
              new ExpiredRelease()),
          new Hazard(
              "failover-forgets",
              "A replica that is promoted does not know the lock, and grants it again",
              "Redis documentation, Distributed locks; K. Kingsbury, Jepsen: Redis, 2013",
              "redis-server",
              false,
              new AsyncFailover()),
          new Hazard(
              "redlock-restart",
              "A server of a quorum forgets, and votes for another",
              "M. Kleppmann, How to do distributed locking, 2016; Redis documentation, Distributed"
                  + " locks",
              "redis-server",
              false,
              new RedlockRestart()),
          new Hazard(
              "redlock-clock-jump",
              "The clock of one server of a quorum jumps, and its vote is free again",
              "M. Kleppmann, How to do distributed locking, 2016",
              "redis-server, faketime",
              false,
              new RedlockClockJump()),
          new Hazard(
              "redlock-partition",
              "A holder is cut off from most servers of a quorum, and one still answers it",
              "S. Sanfilippo, Is Redlock safe?, 2016; P. Bailis and K. Kingsbury, The Network is"
                  + " Reliable, 2014",
              "redis-server",
              false,
              new RedlockPartition()),
          new Hazard(
              "sharded-instance-dies",
              "A client leaves a server out that it cannot reach, and its names move",
              "B. Fitzpatrick, Distributed caching with memcached, 2004",
              "redis-server",
              false,
              new ShardFailure()),
          new Hazard(
              "zk-session-gc",
              "A holder of an ephemeral node stands still for longer than its session lives",
              "Apache Curator, Tech Note 10; F. Junqueira and B. Reed, ZooKeeper, 2013",
              "none: ZooKeeper comes along",
              false,
              new ZooKeeperSessionPause()),
          new Hazard(
              "db-crash-holder",
              "Locks in a database, when their holder dies and when the database dies",
              "PostgreSQL documentation, Advisory Locks; MariaDB documentation, GET_LOCK",
              "postgres and initdb, or mariadbd",
              false,
              new DatabaseCrash()),
          new Hazard(
              "thundering-herd",
              "Each release wakes all who wait, and all but one wake in vain",
              "Apache ZooKeeper, Recipes and Solutions: Locks",
              "redis-server",
              false,
              new ThunderingHerd()),
          new Hazard(
              "late-command",
              "A request that its sender gave up arrives all the same, and locks for nobody",
              "antirez/redlock-rb#3; P. Bailis and K. Kingsbury, The Network is Reliable, 2014",
              "redis-server",
              false,
              new DelayedCommand()),
          new Hazard(
              "etcd-lease-revoked",
              "A leader of etcd that stood still goes on, and ends leases that were kept alive",
              "etcd issues 12528 and 15247; K. Kingsbury, Jepsen: etcd 3.4.3, 2020",
              "etcd",
              false,
              EtcdLeaderPause::leaseIsRevoked),
          new Hazard(
              "etcd-late-write",
              "A write that was given up is executed when a leader of etcd goes on",
              "P. Bailis and K. Kingsbury, The Network is Reliable, 2014",
              "etcd",
              false,
              EtcdLeaderPause::writeIsLate));

  private HazardCatalog() {}

  /** Every story, in the order in which they are best read. */
  public static List<Hazard> all() {
    return ALL;
  }

  /** The story of that name. */
  public static Optional<Hazard> find(String name) {
    return ALL.stream().filter(hazard -> hazard.name().equals(name)).findFirst();
  }
}
