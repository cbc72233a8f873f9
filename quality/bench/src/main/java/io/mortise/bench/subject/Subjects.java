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
  REENTRANT(
      SubjectStore.PROCESS, storeUrls -> new InProcessLock(new ReentrantLock()), PAIRS, WAITS),
  REENTRANT_FAIR(
      SubjectStore.PROCESS, storeUrls -> new InProcessLock(new ReentrantLock(true)), PAIRS, WAITS),
  MORTISE_MEM(
      SubjectStore.PROCESS,
      storeUrls -> new MortiseLocks("mem:", LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      CALLS,
      GROUPS),
  MORTISE_MEM_FAIR(
      SubjectStore.PROCESS, storeUrls -> new MortiseLocks("mem:", MortiseLocks.FAIR), OWN, WAITS),
  MORTISE_MEM_LISTENER(
      SubjectStore.PROCESS,
      storeUrls -> MortiseLocks.heardBy(new MortiseLocks.SilentListener()),
      OWN,
      CALLS),
  MORTISE_MEM_METERS(
      SubjectStore.PROCESS,
      storeUrls -> MortiseLocks.heardBy(LockedMethodCalls.meters()),
      OWN,
      CALLS),
  MORTISE_MEM_LOCKED(
      SubjectStore.PROCESS, storeUrls -> new LockedMethodCalls(List.of()), OWN, CALLS),
  MORTISE_MEM_LOCKED_METERS(
      SubjectStore.PROCESS,
      storeUrls -> new LockedMethodCalls(List.of(LockedMethodCalls.meters())),
      OWN,
      CALLS),
  MORTISE_MEM_LOCKED_OBSERVED(
      SubjectStore.PROCESS,
      storeUrls -> new LockedMethodCalls(LockedMethodCalls.metersAndObservations()),
      OWN,
      CALLS),

  MORTISE_REDIS(
      SubjectStore.REDIS,
      ours(SubjectStore.REDIS, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS,
      GROUPS),
  MORTISE_REDIS_ASYNC(
      SubjectStore.REDIS, ours(SubjectStore.REDIS, MortiseLocks.ASYNC), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_REDIS_FAIR(
      SubjectStore.REDIS, ours(SubjectStore.REDIS, MortiseLocks.FAIR), OWN, WAITS, ACROSS),
  MORTISE_REDIS_STICKY(
      SubjectStore.REDIS, ours(SubjectStore.REDIS, MortiseLocks.STICKY), OWN, PAIRS, ACROSS, IDLES),
  MORTISE_LETTUCE(
      SubjectStore.REDIS,
      storeUrls -> lettuce(storeUrls, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      ACROSS),
  MORTISE_LETTUCE_ASYNC(
      SubjectStore.REDIS, storeUrls -> lettuce(storeUrls, MortiseLocks.ASYNC), OWN, PAIRS),
  REDISSON(SubjectStore.REDIS, RedissonLocks::new, PAIRS, WAITS, ACROSS, KEEPS, GROUPS),
  SPRING_INTEGRATION(SubjectStore.REDIS, SpringRedisLocks::new, PAIRS, WAITS, ACROSS),
  SHEDLOCK(SubjectStore.REDIS, ShedLockLocks::redis, PAIRS),
  LETTUCE_PAIR(SubjectStore.REDIS, LettucePlainLock::new, PAIRS),
  JEDIS_PAIR(SubjectStore.REDIS, JedisPlainLock::new, PAIRS),
  BLPOP(SubjectStore.REDIS, BlockingPopLock::new, WAITS, ACROSS),

  MORTISE_SQLITE(
      SubjectStore.SQLITE,
      ours(SubjectStore.SQLITE, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_SQLITE_STICKY(
      SubjectStore.SQLITE,
      ours(SubjectStore.SQLITE, MortiseLocks.STICKY),
      OWN,
      PAIRS,
      ACROSS,
      IDLES),
  SQLITE_STATEMENTS(
      SubjectStore.SQLITE, storeUrls -> new InsertedRowLock(storeUrls, SubjectStore.SQLITE), PAIRS),

  MORTISE_POSTGRESQL(
      SubjectStore.POSTGRESQL,
      ours(SubjectStore.POSTGRESQL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_POSTGRESQL_ASYNC(
      SubjectStore.POSTGRESQL, ours(SubjectStore.POSTGRESQL, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_POSTGRESQL_FAIR(
      SubjectStore.POSTGRESQL, ours(SubjectStore.POSTGRESQL, MortiseLocks.FAIR), OWN, WAITS),
  MORTISE_POSTGRESQL_STICKY(
      SubjectStore.POSTGRESQL,
      ours(SubjectStore.POSTGRESQL, MortiseLocks.STICKY),
      OWN,
      PAIRS,
      ACROSS,
      IDLES),
  POSTGRESQL_ROWS(
      SubjectStore.POSTGRESQL,
      storeUrls -> new InsertedRowLock(storeUrls, SubjectStore.POSTGRESQL),
      PAIRS),
  POSTGRESQL_TICKETS(
      SubjectStore.POSTGRESQL,
      storeUrls -> new TicketRowLock(storeUrls, SubjectStore.POSTGRESQL),
      WAITS,
      ACROSS),
  POSTGRESQL_BATCHES(
      SubjectStore.POSTGRESQL,
      storeUrls -> new BatchedRowLock(storeUrls, SubjectStore.POSTGRESQL),
      PAIRS),
  POSTGRESQL_ADVISORY(
      SubjectStore.POSTGRESQL,
      storeUrls -> new AdvisoryLock(storeUrls, SubjectStore.POSTGRESQL),
      PAIRS,
      WAITS,
      ACROSS),
  POSTGRESQL_SPRING(
      SubjectStore.POSTGRESQL,
      storeUrls -> new SpringJdbcLocks(storeUrls, SubjectStore.POSTGRESQL),
      PAIRS,
      WAITS,
      ACROSS),
  POSTGRESQL_SHEDLOCK(
      SubjectStore.POSTGRESQL,
      storeUrls -> ShedLockLocks.jdbc(storeUrls, SubjectStore.POSTGRESQL),
      PAIRS),

  MORTISE_MARIADB(
      SubjectStore.MARIADB,
      ours(SubjectStore.MARIADB, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MORTISE_MARIADB_ASYNC(
      SubjectStore.MARIADB, ours(SubjectStore.MARIADB, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_MARIADB_FAIR(
      SubjectStore.MARIADB, ours(SubjectStore.MARIADB, MortiseLocks.FAIR), OWN, WAITS),
  MARIADB_ROWS(
      SubjectStore.MARIADB,
      storeUrls -> new InsertedRowLock(storeUrls, SubjectStore.MARIADB),
      PAIRS),
  MARIADB_TICKETS(
      SubjectStore.MARIADB,
      storeUrls -> new TicketRowLock(storeUrls, SubjectStore.MARIADB),
      WAITS,
      ACROSS),
  MARIADB_BATCHES(
      SubjectStore.MARIADB,
      storeUrls -> new BatchedRowLock(storeUrls, SubjectStore.MARIADB),
      PAIRS),
  MARIADB_GET_LOCK(
      SubjectStore.MARIADB,
      storeUrls -> new AdvisoryLock(storeUrls, SubjectStore.MARIADB),
      PAIRS,
      WAITS,
      ACROSS),
  MARIADB_SPRING(
      SubjectStore.MARIADB,
      storeUrls -> new SpringJdbcLocks(storeUrls, SubjectStore.MARIADB),
      PAIRS,
      WAITS,
      ACROSS),
  MARIADB_SHEDLOCK(
      SubjectStore.MARIADB,
      storeUrls -> ShedLockLocks.jdbc(storeUrls, SubjectStore.MARIADB),
      PAIRS),

  MORTISE_MYSQL(
      SubjectStore.MYSQL,
      ours(SubjectStore.MYSQL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      GROUPS),
  MYSQL_ROWS(
      SubjectStore.MYSQL, storeUrls -> new InsertedRowLock(storeUrls, SubjectStore.MYSQL), PAIRS),
  MYSQL_TICKETS(
      SubjectStore.MYSQL,
      storeUrls -> new TicketRowLock(storeUrls, SubjectStore.MYSQL),
      WAITS,
      ACROSS),
  MYSQL_BATCHES(
      SubjectStore.MYSQL, storeUrls -> new BatchedRowLock(storeUrls, SubjectStore.MYSQL), PAIRS),
  MYSQL_GET_LOCK(
      SubjectStore.MYSQL,
      storeUrls -> new AdvisoryLock(storeUrls, SubjectStore.MYSQL),
      PAIRS,
      WAITS,
      ACROSS),
  MYSQL_SHEDLOCK(
      SubjectStore.MYSQL, storeUrls -> ShedLockLocks.jdbc(storeUrls, SubjectStore.MYSQL), PAIRS),

  MORTISE_ZOOKEEPER(
      SubjectStore.ZOOKEEPER,
      ours(SubjectStore.ZOOKEEPER, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS,
      GROUPS),
  MORTISE_ZOOKEEPER_ASYNC(
      SubjectStore.ZOOKEEPER, ours(SubjectStore.ZOOKEEPER, MortiseLocks.ASYNC), OWN, PAIRS),
  MORTISE_ZOOKEEPER_FAIR(
      SubjectStore.ZOOKEEPER,
      ours(SubjectStore.ZOOKEEPER, MortiseLocks.FAIR),
      OWN,
      WAITS,
      ACROSS,
      CROWDS),
  MORTISE_ZOOKEEPER_STICKY(
      SubjectStore.ZOOKEEPER,
      ours(SubjectStore.ZOOKEEPER, MortiseLocks.STICKY),
      OWN,
      PAIRS,
      ACROSS,
      IDLES),
  MORTISE_CURATOR(
      SubjectStore.ZOOKEEPER,
      storeUrls ->
          new MortiseLocks("zk+curator://" + storeUrls.zooKeeperServers(), LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      ACROSS),
  ZOOKEEPER_NODES(SubjectStore.ZOOKEEPER, SequentialNodeLock::new, PAIRS, WAITS, ACROSS, KEEPS),
  ZOOKEEPER_BATCHES(SubjectStore.ZOOKEEPER, BatchedNodeLock::new, PAIRS),
  CURATOR(SubjectStore.ZOOKEEPER, CuratorLocks::new, PAIRS, WAITS, ACROSS, KEEPS, GROUPS),

  MORTISE_ETCD(
      SubjectStore.ETCD,
      ours(SubjectStore.ETCD, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  ETCD_TRANSACTIONS(SubjectStore.ETCD, KeyValueLocks.EtcdTransactionLock::new, PAIRS),
  JETCD(SubjectStore.ETCD, KeyValueLocks.JetcdLocks::new, PAIRS, WAITS, ACROSS),

  MORTISE_NATS(
      SubjectStore.NATS,
      ours(SubjectStore.NATS, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  NATS_UPDATES(SubjectStore.NATS, KeyValueLocks.NatsUpdateLock::new, PAIRS),

  MORTISE_CONSUL(
      SubjectStore.CONSUL,
      ours(SubjectStore.CONSUL, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  CONSUL_WRITES(SubjectStore.CONSUL, KeyValueLocks.ConsulEntryLock::new, PAIRS),
  CONSUL_SESSIONS(SubjectStore.CONSUL, KeyValueLocks.ConsulSessionLock::new, PAIRS, WAITS, ACROSS),

  MORTISE_MEMCACHED(
      SubjectStore.MEMCACHED,
      ours(SubjectStore.MEMCACHED, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  MEMCACHED_ITEMS(SubjectStore.MEMCACHED, KeyValueLocks.MemcachedItemLock::new, PAIRS),

  MORTISE_DYNAMODB(
      SubjectStore.DYNAMODB,
      ours(SubjectStore.DYNAMODB, LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  DYNAMODB_UPDATES(SubjectStore.DYNAMODB, KeyValueLocks.DynamoDbUpdateLock::new, PAIRS),
  DYNAMODB_SHEDLOCK(SubjectStore.DYNAMODB, ShedLockLocks::dynamoDb, PAIRS);

  /** The store of a subject's locks. */
  public enum SubjectStore {
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

  private final SubjectStore storeKind;
  private final SubjectOpener subjectOpener;
  private final Set<SubjectTrait> subjectTraits;

  Subjects(SubjectStore storeKind, SubjectOpener subjectOpener, SubjectTrait... subjectTraits) {
    this.storeKind = storeKind;
    this.subjectOpener = subjectOpener;
    this.subjectTraits = EnumSet.copyOf(Arrays.asList(subjectTraits));
  }

  private static SubjectOpener ours(SubjectStore storeKind, LockOptions options) {
    return storeUrls -> new MortiseLocks(storeUrls.url(storeKind), options);
  }

  private static Subject lettuce(StoreUrls storeUrls, LockOptions options) {
    return new MortiseLocks(storeUrls.url(SubjectStore.REDIS) + "?wire=lettuce", options);
  }

  /** Connects. Blocks. */
  public Subject open(StoreUrls storeUrls) throws Exception {
    return subjectOpener.open(storeUrls);
  }

  public SubjectStore place() {
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
