package io.mortise.bench.subject;

import static io.mortise.bench.subject.Subjects.Trait.ACROSS;
import static io.mortise.bench.subject.Subjects.Trait.CROWDS;
import static io.mortise.bench.subject.Subjects.Trait.KEEPS;
import static io.mortise.bench.subject.Subjects.Trait.OWN;
import static io.mortise.bench.subject.Subjects.Trait.PAIRS;
import static io.mortise.bench.subject.Subjects.Trait.WAITS;

import io.mortise.LockOptions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** Everything that can be measured, and what it can take part in. */
@SuppressWarnings("ImmutableEnumChecker") // Its set is never changed, its openers have no state.
public enum Subjects {
  REENTRANT(Place.PROCESS, stores -> new InProcess(new ReentrantLock()), PAIRS, WAITS),
  REENTRANT_FAIR(Place.PROCESS, stores -> new InProcess(new ReentrantLock(true)), PAIRS, WAITS),
  MORTISE_MEM(
      Place.PROCESS, stores -> new Mortise("mem:", LockOptions.DEFAULTS), OWN, PAIRS, WAITS),
  MORTISE_MEM_FAIR(Place.PROCESS, stores -> new Mortise("mem:", Mortise.FAIR), OWN, WAITS),

  MORTISE_REDIS(
      Place.REDIS, ours(Place.REDIS, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS, KEEPS),
  MORTISE_REDIS_ASYNC(Place.REDIS, ours(Place.REDIS, Mortise.ASYNC), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_REDIS_FAIR(Place.REDIS, ours(Place.REDIS, Mortise.FAIR), OWN, WAITS, ACROSS),
  MORTISE_LETTUCE(Place.REDIS, stores -> lettuce(stores, LockOptions.DEFAULTS), OWN, PAIRS, ACROSS),
  MORTISE_LETTUCE_ASYNC(Place.REDIS, stores -> lettuce(stores, Mortise.ASYNC), OWN, PAIRS),
  REDISSON(Place.REDIS, RedissonLocks::new, PAIRS, WAITS, ACROSS, KEEPS),
  SPRING_INTEGRATION(Place.REDIS, SpringLocks::new, PAIRS, WAITS, ACROSS),
  SHEDLOCK(Place.REDIS, ShedLockLocks::redis, PAIRS),
  LETTUCE_PAIR(Place.REDIS, LettucePair::new, PAIRS),
  JEDIS_PAIR(Place.REDIS, JedisPair::new, PAIRS),
  BLPOP(Place.REDIS, BlockingPop::new, WAITS, ACROSS),

  MORTISE_SQLITE(Place.SQLITE, ours(Place.SQLITE, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS),
  SQLITE_STATEMENTS(Place.SQLITE, stores -> new RowPair(stores, Place.SQLITE), PAIRS),

  MORTISE_POSTGRESQL(
      Place.POSTGRESQL, ours(Place.POSTGRESQL, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_POSTGRESQL_ASYNC(Place.POSTGRESQL, ours(Place.POSTGRESQL, Mortise.ASYNC), OWN, PAIRS),
  MORTISE_POSTGRESQL_FAIR(Place.POSTGRESQL, ours(Place.POSTGRESQL, Mortise.FAIR), OWN, WAITS),
  POSTGRESQL_ROWS(Place.POSTGRESQL, stores -> new RowPair(stores, Place.POSTGRESQL), PAIRS),
  POSTGRESQL_TICKETS(
      Place.POSTGRESQL, stores -> new TicketRow(stores, Place.POSTGRESQL), WAITS, ACROSS),
  POSTGRESQL_BATCHES(Place.POSTGRESQL, stores -> new RowBatches(stores, Place.POSTGRESQL), PAIRS),
  POSTGRESQL_ADVISORY(
      Place.POSTGRESQL, stores -> new SessionPair(stores, Place.POSTGRESQL), PAIRS, WAITS, ACROSS),
  POSTGRESQL_SPRING(
      Place.POSTGRESQL, stores -> new SpringRows(stores, Place.POSTGRESQL), PAIRS, WAITS, ACROSS),
  POSTGRESQL_SHEDLOCK(
      Place.POSTGRESQL, stores -> ShedLockLocks.jdbc(stores, Place.POSTGRESQL), PAIRS),

  MORTISE_MARIADB(
      Place.MARIADB, ours(Place.MARIADB, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_MARIADB_ASYNC(Place.MARIADB, ours(Place.MARIADB, Mortise.ASYNC), OWN, PAIRS),
  MORTISE_MARIADB_FAIR(Place.MARIADB, ours(Place.MARIADB, Mortise.FAIR), OWN, WAITS),
  MARIADB_ROWS(Place.MARIADB, stores -> new RowPair(stores, Place.MARIADB), PAIRS),
  MARIADB_TICKETS(Place.MARIADB, stores -> new TicketRow(stores, Place.MARIADB), WAITS, ACROSS),
  MARIADB_BATCHES(Place.MARIADB, stores -> new RowBatches(stores, Place.MARIADB), PAIRS),
  MARIADB_GET_LOCK(
      Place.MARIADB, stores -> new SessionPair(stores, Place.MARIADB), PAIRS, WAITS, ACROSS),
  MARIADB_SPRING(
      Place.MARIADB, stores -> new SpringRows(stores, Place.MARIADB), PAIRS, WAITS, ACROSS),
  MARIADB_SHEDLOCK(Place.MARIADB, stores -> ShedLockLocks.jdbc(stores, Place.MARIADB), PAIRS),

  MORTISE_MYSQL(Place.MYSQL, ours(Place.MYSQL, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS),
  MYSQL_ROWS(Place.MYSQL, stores -> new RowPair(stores, Place.MYSQL), PAIRS),
  MYSQL_TICKETS(Place.MYSQL, stores -> new TicketRow(stores, Place.MYSQL), WAITS, ACROSS),
  MYSQL_BATCHES(Place.MYSQL, stores -> new RowBatches(stores, Place.MYSQL), PAIRS),
  MYSQL_GET_LOCK(Place.MYSQL, stores -> new SessionPair(stores, Place.MYSQL), PAIRS, WAITS, ACROSS),
  MYSQL_SHEDLOCK(Place.MYSQL, stores -> ShedLockLocks.jdbc(stores, Place.MYSQL), PAIRS),

  MORTISE_ZOOKEEPER(
      Place.ZOOKEEPER,
      ours(Place.ZOOKEEPER, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  MORTISE_ZOOKEEPER_ASYNC(Place.ZOOKEEPER, ours(Place.ZOOKEEPER, Mortise.ASYNC), OWN, PAIRS),
  MORTISE_ZOOKEEPER_FAIR(
      Place.ZOOKEEPER, ours(Place.ZOOKEEPER, Mortise.FAIR), OWN, WAITS, ACROSS, CROWDS),
  MORTISE_CURATOR(
      Place.ZOOKEEPER,
      stores -> new Mortise("zk+curator://" + stores.zooKeeperServers(), LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      ACROSS),
  ZOOKEEPER_NODES(Place.ZOOKEEPER, NodePair::new, PAIRS, WAITS, ACROSS, KEEPS),
  ZOOKEEPER_BATCHES(Place.ZOOKEEPER, NodeBatches::new, PAIRS),
  CURATOR(Place.ZOOKEEPER, CuratorLocks::new, PAIRS, WAITS, ACROSS, KEEPS);

  /** Which store a subject's locks are in. */
  public enum Place {
    PROCESS,
    REDIS,
    SQLITE,
    POSTGRESQL,
    MARIADB,
    MYSQL,
    ZOOKEEPER
  }

  /** What a subject is, and which workloads it can take part in. */
  public enum Trait {
    /** Ours, not a peer. */
    OWN,
    /** Can be taken and given back without contention. */
    PAIRS,
    /** Its acquire can wait. */
    WAITS,
    /** Its locks hold between processes, and its acquire can wait for another process. */
    ACROSS,
    /** Keeps a held lock alive by itself. */
    KEEPS,
    /** Can have thousands of waiters, each of which stands in the store's own queue. */
    CROWDS
  }

  private interface Opener {
    Subject open(Stores stores) throws Exception;
  }

  private final Place place;
  private final Opener opener;
  private final Set<Trait> traits;

  Subjects(Place place, Opener opener, Trait... traits) {
    this.place = place;
    this.opener = opener;
    this.traits = EnumSet.copyOf(Arrays.asList(traits));
  }

  private static Opener ours(Place place, LockOptions options) {
    return stores -> new Mortise(stores.url(place), options);
  }

  private static Subject lettuce(Stores stores, LockOptions options) {
    return new Mortise(stores.url(Place.REDIS) + "?wire=lettuce", options);
  }

  /** Connects. Blocks. */
  public Subject open(Stores stores) throws Exception {
    return opener.open(stores);
  }

  /** Where its locks are. */
  public Place place() {
    return place;
  }

  /** Whether it has a trait. */
  public boolean is(Trait trait) {
    return traits.contains(trait);
  }

  /** What people call it: lower case, with hyphens. */
  public String label() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
