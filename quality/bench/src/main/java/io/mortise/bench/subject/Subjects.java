package io.mortise.bench.subject;

import static io.mortise.bench.subject.Subjects.SubjectTrait.ACROSS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.CALLS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.CROWDS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.GROUPS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.IDLES;
import static io.mortise.bench.subject.Subjects.SubjectTrait.KEEPS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.OWN;
import static io.mortise.bench.subject.Subjects.SubjectTrait.PAIRS;
import static io.mortise.bench.subject.Subjects.SubjectTrait.WAITS;

import io.mortise.LockOptions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** The subjects of the bench, with their traits. */
@SuppressWarnings("ImmutableEnumChecker") // Its set is never changed, its openers have no state.
public enum Subjects {
  REENTRANT(StoreKind.PROCESS, storeUrls -> new InProcessLock(new ReentrantLock()), PAIRS, WAITS),
  REENTRANT_FAIR(
      StoreKind.PROCESS, storeUrls -> new InProcessLock(new ReentrantLock(true)), PAIRS, WAITS),
  MORTISE_MEM(
      StoreKind.PROCESS,
      storeUrls -> new MortiseLocks("mem:", LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      CALLS,
      GROUPS),
  MORTISE_MEM_FAIR(
      StoreKind.PROCESS, storeUrls -> new MortiseLocks("mem:", MortiseLocks.FAIR), OWN, WAITS),
  MORTISE_MEM_LISTENER(
      StoreKind.PROCESS,
      storeUrls -> MortiseLocks.heardBy(new MortiseLocks.SilentListener()),
      OWN,
      CALLS),
  MORTISE_MEM_METERS(
      StoreKind.PROCESS, storeUrls -> MortiseLocks.heardBy(LockedMethodCalls.meters()), OWN, CALLS),
  MORTISE_MEM_LOCKED(StoreKind.PROCESS, storeUrls -> new LockedMethodCalls(List.of()), OWN, CALLS),
  MORTISE_MEM_LOCKED_METERS(
      StoreKind.PROCESS,
      storeUrls -> new LockedMethodCalls(List.of(LockedMethodCalls.meters())),
      OWN,
      CALLS),
  MORTISE_MEM_LOCKED_OBSERVED(
      StoreKind.PROCESS,
      storeUrls -> new LockedMethodCalls(LockedMethodCalls.metersAndObservations()),
      OWN,
      CALLS),

  MORTISE_REDIS(
      StoreKind.REDIS,
      ours(StoreKind.REDIS, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS,
      GROUPS),
  MORTISE_REDIS_ASYNC(
      StoreKind.REDIS, ours(StoreKind.REDIS, MortiseLocks.ASYNC), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_REDIS_FAIR(StoreKind.REDIS, ours(StoreKind.REDIS, MortiseLocks.FAIR), OWN, WAITS, ACROSS),
  MORTISE_REDIS_STICKY(
      StoreKind.REDIS, ours(StoreKind.REDIS, MortiseLocks.STICKY), OWN, PAIRS, ACROSS, IDLES),
  MORTISE_LETTUCE(
      StoreKind.REDIS, storeUrls -> lettuce(storeUrls, LockOptions.DEFAULTS), OWN, PAIRS, ACROSS),
  MORTISE_LETTUCE_ASYNC(
      StoreKind.REDIS, storeUrls -> lettuce(storeUrls, MortiseLocks.ASYNC), OWN, PAIRS),
  REDISSON(StoreKind.REDIS, RedissonLocks::new, PAIRS, WAITS, ACROSS, KEEPS, GROUPS),
  SPRING_INTEGRATION(StoreKind.REDIS, SpringRedisLocks::new, PAIRS, WAITS, ACROSS),
  SHEDLOCK(StoreKind.REDIS, ShedLockLocks::redis, PAIRS),
  LETTUCE_PAIR(StoreKind.REDIS, LettucePlainLock::new, PAIRS),
  JEDIS_PAIR(StoreKind.REDIS, JedisPlainLock::new, PAIRS),
  BLPOP(StoreKind.REDIS, BlockingPopLock::new, WAITS, ACROSS),

  MORTISE_SQLITE(
      StoreKind.SQLITE,
      ours(StoreKind.SQLITE, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_SQLITE_STICKY(
      StoreKind.SQLITE, ours(StoreKind.SQLITE, MortiseLocks.STICKY), OWN, PAIRS, ACROSS, IDLES),
  SQLITE_STATEMENTS(
      StoreKind.SQLITE, storeUrls -> new InsertedRowLock(storeUrls, StoreKind.SQLITE), PAIRS),

  MORTISE_POSTGRESQL(
      StoreKind.POSTGRESQL,
      ours(StoreKind.POSTGRESQL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_POSTGRESQL_ASYNC(
      StoreKind.POSTGRESQL, ours(StoreKind.POSTGRESQL, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_POSTGRESQL_FAIR(
      StoreKind.POSTGRESQL, ours(StoreKind.POSTGRESQL, MortiseLocks.FAIR), OWN, WAITS),
  MORTISE_POSTGRESQL_STICKY(
      StoreKind.POSTGRESQL,
      ours(StoreKind.POSTGRESQL, MortiseLocks.STICKY),
      OWN,
      PAIRS,
      ACROSS,
      IDLES),
  POSTGRESQL_ROWS(
      StoreKind.POSTGRESQL,
      storeUrls -> new InsertedRowLock(storeUrls, StoreKind.POSTGRESQL),
      PAIRS),
  POSTGRESQL_TICKETS(
      StoreKind.POSTGRESQL,
      storeUrls -> new TicketRowLock(storeUrls, StoreKind.POSTGRESQL),
      WAITS,
      ACROSS),
  POSTGRESQL_BATCHES(
      StoreKind.POSTGRESQL,
      storeUrls -> new BatchedRowLock(storeUrls, StoreKind.POSTGRESQL),
      PAIRS),
  POSTGRESQL_ADVISORY(
      StoreKind.POSTGRESQL,
      storeUrls -> new AdvisoryLock(storeUrls, StoreKind.POSTGRESQL),
      PAIRS,
      WAITS,
      ACROSS),
  POSTGRESQL_SPRING(
      StoreKind.POSTGRESQL,
      storeUrls -> new SpringJdbcLocks(storeUrls, StoreKind.POSTGRESQL),
      PAIRS,
      WAITS,
      ACROSS),
  POSTGRESQL_SHEDLOCK(
      StoreKind.POSTGRESQL,
      storeUrls -> ShedLockLocks.jdbc(storeUrls, StoreKind.POSTGRESQL),
      PAIRS),

  MORTISE_MARIADB(
      StoreKind.MARIADB,
      ours(StoreKind.MARIADB, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_MARIADB_ASYNC(StoreKind.MARIADB, ours(StoreKind.MARIADB, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_MARIADB_FAIR(StoreKind.MARIADB, ours(StoreKind.MARIADB, MortiseLocks.FAIR), OWN, WAITS),
  MARIADB_ROWS(
      StoreKind.MARIADB, storeUrls -> new InsertedRowLock(storeUrls, StoreKind.MARIADB), PAIRS),
  MARIADB_TICKETS(
      StoreKind.MARIADB,
      storeUrls -> new TicketRowLock(storeUrls, StoreKind.MARIADB),
      WAITS,
      ACROSS),
  MARIADB_BATCHES(
      StoreKind.MARIADB, storeUrls -> new BatchedRowLock(storeUrls, StoreKind.MARIADB), PAIRS),
  MARIADB_GET_LOCK(
      StoreKind.MARIADB,
      storeUrls -> new AdvisoryLock(storeUrls, StoreKind.MARIADB),
      PAIRS,
      WAITS,
      ACROSS),
  MARIADB_SPRING(
      StoreKind.MARIADB,
      storeUrls -> new SpringJdbcLocks(storeUrls, StoreKind.MARIADB),
      PAIRS,
      WAITS,
      ACROSS),
  MARIADB_SHEDLOCK(
      StoreKind.MARIADB, storeUrls -> ShedLockLocks.jdbc(storeUrls, StoreKind.MARIADB), PAIRS),

  MORTISE_MYSQL(
      StoreKind.MYSQL,
      ours(StoreKind.MYSQL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MYSQL_ROWS(StoreKind.MYSQL, storeUrls -> new InsertedRowLock(storeUrls, StoreKind.MYSQL), PAIRS),
  MYSQL_TICKETS(
      StoreKind.MYSQL, storeUrls -> new TicketRowLock(storeUrls, StoreKind.MYSQL), WAITS, ACROSS),
  MYSQL_BATCHES(
      StoreKind.MYSQL, storeUrls -> new BatchedRowLock(storeUrls, StoreKind.MYSQL), PAIRS),
  MYSQL_GET_LOCK(
      StoreKind.MYSQL,
      storeUrls -> new AdvisoryLock(storeUrls, StoreKind.MYSQL),
      PAIRS,
      WAITS,
      ACROSS),
  MYSQL_SHEDLOCK(
      StoreKind.MYSQL, storeUrls -> ShedLockLocks.jdbc(storeUrls, StoreKind.MYSQL), PAIRS),

  MORTISE_ZOOKEEPER(
      StoreKind.ZOOKEEPER,
      ours(StoreKind.ZOOKEEPER, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS,
      GROUPS),
  MORTISE_ZOOKEEPER_ASYNC(
      StoreKind.ZOOKEEPER, ours(StoreKind.ZOOKEEPER, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_ZOOKEEPER_FAIR(
      StoreKind.ZOOKEEPER,
      ours(StoreKind.ZOOKEEPER, MortiseLocks.FAIR),
      OWN,
      WAITS,
      ACROSS,
      CROWDS),
  MORTISE_ZOOKEEPER_STICKY(
      StoreKind.ZOOKEEPER,
      ours(StoreKind.ZOOKEEPER, MortiseLocks.STICKY),
      OWN,
      PAIRS,
      ACROSS,
      IDLES),
  MORTISE_CURATOR(
      StoreKind.ZOOKEEPER,
      storeUrls ->
          new MortiseLocks("zk+curator://" + storeUrls.zooKeeperServers(), LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      ACROSS),
  ZOOKEEPER_NODES(StoreKind.ZOOKEEPER, SequentialNodeLock::new, PAIRS, WAITS, ACROSS, KEEPS),
  ZOOKEEPER_BATCHES(StoreKind.ZOOKEEPER, BatchedNodeLock::new, PAIRS),
  CURATOR(StoreKind.ZOOKEEPER, CuratorLocks::new, PAIRS, WAITS, ACROSS, KEEPS, GROUPS),

  MORTISE_ETCD(
      StoreKind.ETCD, ours(StoreKind.ETCD, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS, KEEPS),
  ETCD_TRANSACTIONS(StoreKind.ETCD, KeyValueLocks.EtcdTransactionLock::new, PAIRS),
  JETCD(StoreKind.ETCD, KeyValueLocks.JetcdLocks::new, PAIRS, WAITS, ACROSS),

  MORTISE_NATS(
      StoreKind.NATS, ours(StoreKind.NATS, LockOptions.DEFAULTS), OWN, PAIRS, WAITS, ACROSS, KEEPS),
  NATS_UPDATES(StoreKind.NATS, KeyValueLocks.NatsUpdateLock::new, PAIRS),

  MORTISE_CONSUL(
      StoreKind.CONSUL,
      ours(StoreKind.CONSUL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  CONSUL_WRITES(StoreKind.CONSUL, KeyValueLocks.ConsulEntryLock::new, PAIRS),
  CONSUL_SESSIONS(StoreKind.CONSUL, KeyValueLocks.ConsulSessionLock::new, PAIRS, WAITS, ACROSS),

  MORTISE_MEMCACHED(
      StoreKind.MEMCACHED,
      ours(StoreKind.MEMCACHED, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  MEMCACHED_ITEMS(StoreKind.MEMCACHED, KeyValueLocks.MemcachedItemLock::new, PAIRS),

  MORTISE_DYNAMODB(
      StoreKind.DYNAMODB,
      ours(StoreKind.DYNAMODB, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  DYNAMODB_UPDATES(StoreKind.DYNAMODB, KeyValueLocks.DynamoDbUpdateLock::new, PAIRS),
  DYNAMODB_SHEDLOCK(StoreKind.DYNAMODB, ShedLockLocks::dynamoDb, PAIRS);

  /** The store of a subject's locks. */
  public enum StoreKind {
    PROCESS,
    REDIS,
    SQLITE,
    POSTGRESQL,
    MARIADB,
    MYSQL,
    ZOOKEEPER,
    ETCD,
    NATS,
    CONSUL,
    MEMCACHED,
    DYNAMODB
  }

  /** A trait of a subject. Traits decide the workloads it takes part in. */
  public enum SubjectTrait {
    /** Ours, not a peer. */
    OWN,
    /** Can be acquired and released without contention. */
    PAIRS,
    /** Can run a method under a lock. */
    CALLS,
    /** Its acquire can wait. */
    WAITS,
    /** Its locks hold between processes, and its acquire can wait for another process. */
    ACROSS,
    /** Can take several locks at once. */
    GROUPS,
    /** Keeps a held lock alive by itself. */
    KEEPS,
    /** Its locks stay with their process after a release. */
    IDLES,
    /** Can have thousands of waiters, each of which stands in the store's own queue. */
    CROWDS
  }

  private interface SubjectOpener {
    Subject open(StoreUrls storeUrls) throws Exception;
  }

  private final StoreKind storeKind;
  private final SubjectOpener subjectOpener;
  private final Set<SubjectTrait> subjectTraits;

  Subjects(StoreKind storeKind, SubjectOpener subjectOpener, SubjectTrait... subjectTraits) {
    this.storeKind = storeKind;
    this.subjectOpener = subjectOpener;
    this.subjectTraits = EnumSet.copyOf(Arrays.asList(subjectTraits));
  }

  private static SubjectOpener ours(StoreKind storeKind, LockOptions options) {
    return storeUrls -> new MortiseLocks(storeUrls.url(storeKind), options);
  }

  private static Subject lettuce(StoreUrls storeUrls, LockOptions options) {
    return new MortiseLocks(storeUrls.url(StoreKind.REDIS) + "?wire=lettuce", options);
  }

  /** Connects. Blocks. */
  public Subject open(StoreUrls storeUrls) throws Exception {
    return subjectOpener.open(storeUrls);
  }

  public StoreKind place() {
    return storeKind;
  }

  public boolean is(SubjectTrait subjectTrait) {
    return subjectTraits.contains(subjectTrait);
  }

  /** Its name in reports and on the command line: lower case, with hyphens. */
  public String label() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
