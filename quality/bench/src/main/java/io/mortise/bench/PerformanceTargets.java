package io.mortise.bench;

import static io.mortise.bench.subject.Subjects.BLPOP;
import static io.mortise.bench.subject.Subjects.CONSUL_WRITES;
import static io.mortise.bench.subject.Subjects.CURATOR;
import static io.mortise.bench.subject.Subjects.DYNAMODB_UPDATES;
import static io.mortise.bench.subject.Subjects.ETCD_TRANSACTIONS;
import static io.mortise.bench.subject.Subjects.JEDIS_PAIR;
import static io.mortise.bench.subject.Subjects.JETCD;
import static io.mortise.bench.subject.Subjects.LETTUCE_PAIR;
import static io.mortise.bench.subject.Subjects.MARIADB_GET_LOCK;
import static io.mortise.bench.subject.Subjects.MARIADB_ROWS;
import static io.mortise.bench.subject.Subjects.MARIADB_SHEDLOCK;
import static io.mortise.bench.subject.Subjects.MARIADB_SPRING;
import static io.mortise.bench.subject.Subjects.MEMCACHED_ITEMS;
import static io.mortise.bench.subject.Subjects.MORTISE_CONSUL;
import static io.mortise.bench.subject.Subjects.MORTISE_CURATOR;
import static io.mortise.bench.subject.Subjects.MORTISE_DYNAMODB;
import static io.mortise.bench.subject.Subjects.MORTISE_ETCD;
import static io.mortise.bench.subject.Subjects.MORTISE_MARIADB;
import static io.mortise.bench.subject.Subjects.MORTISE_MARIADB_ASYNC;
import static io.mortise.bench.subject.Subjects.MORTISE_MARIADB_FAIR;
import static io.mortise.bench.subject.Subjects.MORTISE_MEM;
import static io.mortise.bench.subject.Subjects.MORTISE_MEMCACHED;
import static io.mortise.bench.subject.Subjects.MORTISE_MEM_FAIR;
import static io.mortise.bench.subject.Subjects.MORTISE_MEM_LISTENER;
import static io.mortise.bench.subject.Subjects.MORTISE_MEM_LOCKED;
import static io.mortise.bench.subject.Subjects.MORTISE_MEM_LOCKED_METERS;
import static io.mortise.bench.subject.Subjects.MORTISE_MYSQL;
import static io.mortise.bench.subject.Subjects.MORTISE_NATS;
import static io.mortise.bench.subject.Subjects.MORTISE_POSTGRESQL;
import static io.mortise.bench.subject.Subjects.MORTISE_POSTGRESQL_ASYNC;
import static io.mortise.bench.subject.Subjects.MORTISE_POSTGRESQL_FAIR;
import static io.mortise.bench.subject.Subjects.MORTISE_POSTGRESQL_STICKY;
import static io.mortise.bench.subject.Subjects.MORTISE_REDIS;
import static io.mortise.bench.subject.Subjects.MORTISE_REDIS_ASYNC;
import static io.mortise.bench.subject.Subjects.MORTISE_REDIS_FAIR;
import static io.mortise.bench.subject.Subjects.MORTISE_REDIS_STICKY;
import static io.mortise.bench.subject.Subjects.MORTISE_SQLITE;
import static io.mortise.bench.subject.Subjects.MORTISE_SQLITE_STICKY;
import static io.mortise.bench.subject.Subjects.MORTISE_ZOOKEEPER;
import static io.mortise.bench.subject.Subjects.MORTISE_ZOOKEEPER_ASYNC;
import static io.mortise.bench.subject.Subjects.MORTISE_ZOOKEEPER_FAIR;
import static io.mortise.bench.subject.Subjects.MORTISE_ZOOKEEPER_STICKY;
import static io.mortise.bench.subject.Subjects.MYSQL_GET_LOCK;
import static io.mortise.bench.subject.Subjects.MYSQL_ROWS;
import static io.mortise.bench.subject.Subjects.MYSQL_SHEDLOCK;
import static io.mortise.bench.subject.Subjects.NATS_UPDATES;
import static io.mortise.bench.subject.Subjects.POSTGRESQL_ADVISORY;
import static io.mortise.bench.subject.Subjects.POSTGRESQL_ROWS;
import static io.mortise.bench.subject.Subjects.POSTGRESQL_SHEDLOCK;
import static io.mortise.bench.subject.Subjects.POSTGRESQL_SPRING;
import static io.mortise.bench.subject.Subjects.REDISSON;
import static io.mortise.bench.subject.Subjects.REENTRANT_FAIR;
import static io.mortise.bench.subject.Subjects.SQLITE_STATEMENTS;
import static io.mortise.bench.subject.Subjects.ZOOKEEPER_NODES;

import io.mortise.bench.subject.Subjects;
import java.util.ArrayList;
import java.util.List;

/** Performance targets of Mortise, as ratios to other subjects of the same run where possible. */
final class PerformanceTargets {
  private final BenchResults benchResults;
  private final List<PerformanceTarget> performanceTargets = new ArrayList<>();

  /**
   * A target.
   *
   * @param value NaN if it was not measured in this run
   * @param atMost whether the bound is an upper one
   */
  record PerformanceTarget(String what, double value, double bound, boolean atMost) {
    boolean measured() {
      return !Double.isNaN(value);
    }

    boolean reached() {
      return atMost ? value <= bound : value >= bound;
    }
  }

  private PerformanceTargets(BenchResults benchResults) {
    this.benchResults = benchResults;
  }

  static List<PerformanceTarget> of(BenchResults benchResults) {
    PerformanceTargets all = new PerformanceTargets(benchResults);
    all.threads();
    all.redis();
    all.held();
    all.sqlite();
    all.postgresql();
    all.mariadb();
    all.mysql();
    all.zooKeeper();
    all.group("Redis", MORTISE_REDIS);
    all.group("PostgreSQL", MORTISE_POSTGRESQL);
    all.group("ZooKeeper", MORTISE_ZOOKEEPER);
    all.etcd();
    all.keysAndValues();
    all.dynamoDb();
    all.sticky("Redis", MORTISE_REDIS_STICKY, MORTISE_REDIS);
    all.sticky("SQLite", MORTISE_SQLITE_STICKY, MORTISE_SQLITE);
    all.sticky("PostgreSQL", MORTISE_POSTGRESQL_STICKY, MORTISE_POSTGRESQL);
    all.sticky("ZooKeeper", MORTISE_ZOOKEEPER_STICKY, MORTISE_ZOOKEEPER);
    return all.performanceTargets;
  }

  private void threads() {
    atMost("re-entry of the Lock view, ns", median(Workload.REENTRY, MORTISE_MEM, "ns"), 1000);
    atMost(
        "re-entry of the Lock view, Redis, ns",
        median(Workload.REENTRY, MORTISE_REDIS, "ns"),
        1000);
    atMost(
        "a listener that does nothing ÷ none, mem",
        ratio(Workload.CALL, MORTISE_MEM_LISTENER, MORTISE_MEM, "cpu ns"),
        1.05);
    atMost("@Locked − withLock by hand, mem, µs", more(MORTISE_MEM_LOCKED), 3);
    atMost("@Locked with meters − withLock by hand, mem, µs", more(MORTISE_MEM_LOCKED_METERS), 6);
    inProcess("mem", MORTISE_MEM, MORTISE_MEM_FAIR);
    inProcess("Redis", MORTISE_REDIS, MORTISE_REDIS_FAIR);
    inProcess("SQLite", MORTISE_SQLITE, MORTISE_SQLITE);
  }

  private double more(Subjects locked) {
    return (median(Workload.CALL, locked, "cpu ns") - median(Workload.CALL, MORTISE_MEM, "cpu ns"))
        / 1000;
  }

  private void inProcess(String store, Subjects normal, Subjects fair) {
    String rates = "one lock, 8 threads, " + store;
    if (fair != normal) {
      atLeast(
          rates + ": fair ÷ fair ReentrantLock",
          ratio(Workload.THREADS_8, fair, REENTRANT_FAIR, "acq/s"),
          0.75);
    }
    atLeast(
        rates + ": default ÷ fair ReentrantLock",
        ratio(Workload.THREADS_8, normal, REENTRANT_FAIR, "acq/s"),
        4);
    atMost(rates + ": longest wait, ms", median(Workload.THREADS_8, normal, "longest ms"), 10);
  }

  private void group(String store, Subjects subject) {
    atMost(
        store + ", ten free locks at once ÷ one: acquire",
        median(Workload.GROUP_10, subject, "÷ one"),
        1.5);
  }

  private void sticky(String store, Subjects sticky, Subjects plain) {
    atMost(store + ", sticky: pair, µs", median(Workload.PAIR, sticky, "p50 µs"), 1.5);
    atLeast(
        store + ", sticky: 64 threads apart, pairs/s",
        median(Workload.APART_64, sticky, "pairs/s"),
        1_000_000);
    atMost(
        store + ", sticky: hand-off between processes ÷ not sticky",
        ratio(Workload.SIGNAL, sticky, plain, "p50 µs"),
        1.5);
    atMost(
        store + ", sticky: processes in turns ÷ not sticky",
        ratio(Workload.TURNS, sticky, plain, "mean µs"),
        1.5);
    atLeast(
        store + ", sticky: 4 processes, acquisitions ÷ not sticky",
        ratio(Workload.PROCESSES, sticky, plain, "acq/s"),
        0.9);
    atLeast(
        store + ", sticky: 4 processes, switches ÷ not sticky",
        ratio(Workload.PROCESSES, sticky, plain, "process switches/s"),
        0.9);
    atMost(
        store + ", 100,000 idle: client closes, ms",
        median(Workload.IDLE, sticky, "close ms"),
        2_000);
    atMost(
        store + ", 100,000 idle: heap B/lock", median(Workload.IDLE, sticky, "heap B/lock"), 260);
  }

  private void redis() {
    atMost(
        "Redis pair: answered ÷ Lettuce pair",
        ratio(Workload.PAIR, MORTISE_REDIS, LETTUCE_PAIR, "p50 µs"),
        1.15);
    atMost(
        "Redis pair: asynchronous ÷ limit",
        ratio(Workload.PAIR, MORTISE_REDIS_ASYNC, JEDIS_PAIR, "p50 µs"),
        0.95);
    atLeast(
        "Redis, 64 threads apart: asynchronous ÷ limit",
        ratio(Workload.APART_64, MORTISE_REDIS_ASYNC, JEDIS_PAIR, "pairs/s"),
        1.7);
    atLeast(
        "Redis, 64 threads apart: asynchronous ÷ Redisson",
        ratio(Workload.APART_64, MORTISE_REDIS_ASYNC, REDISSON, "pairs/s"),
        7);
    atLeast(
        "Redis, 64 threads apart: answered ÷ limit",
        ratio(Workload.APART_64, MORTISE_REDIS, JEDIS_PAIR, "pairs/s"),
        1.1);
    atLeast(
        "Redis, 4 processes: acquisitions ÷ BLPOP",
        ratio(Workload.PROCESSES, MORTISE_REDIS, BLPOP, "acq/s"),
        1.2);
    atLeast(
        "Redis, 4 processes: process switches ÷ Redisson",
        ratio(Workload.PROCESSES, MORTISE_REDIS, REDISSON, "process switches/s"),
        4);
    atLeast(
        "Redis, 4 processes: fair, process switches ÷ BLPOP",
        ratio(Workload.PROCESSES, MORTISE_REDIS_FAIR, BLPOP, "process switches/s"),
        0.7);
    atMost(
        "Redis, 4 processes: longest wait, ms",
        median(Workload.PROCESSES, MORTISE_REDIS, "longest ms"),
        60);
    atMost(
        "Redis hand-off between processes: median ÷ Redisson",
        ratio(Workload.SIGNAL, MORTISE_REDIS, REDISSON, "p50 µs"),
        0.5);
    atMost(
        "Redis hand-off between processes: median ÷ BLPOP",
        ratio(Workload.SIGNAL, MORTISE_REDIS, BLPOP, "p50 µs"),
        1.4);
  }

  private void held() {
    // The default TTL is 15 s, and it is renewed each third of it; a window has one more at times.
    atMost(
        "10,000 held: requests to the server per TTL/3",
        median(Workload.HELD, MORTISE_REDIS, "requests/s") * 5,
        1.5);
    atMost("10,000 held: client CPU, %", median(Workload.HELD, MORTISE_REDIS, "client cpu %"), 0.1);
    atMost("10,000 held: heap B/lock", median(Workload.HELD, MORTISE_REDIS, "heap B/lock"), 220);
    atMost(
        "10,000 held: server B/lock", median(Workload.HELD, MORTISE_REDIS, "server B/lock"), 150);
  }

  private void postgresql() {
    atMost(
        "PostgreSQL pair: answered ÷ raw rows",
        ratio(Workload.PAIR, MORTISE_POSTGRESQL, POSTGRESQL_ROWS, "p50 µs"),
        1.15);
    atMost(
        "PostgreSQL pair: asynchronous ÷ raw rows",
        ratio(Workload.PAIR, MORTISE_POSTGRESQL_ASYNC, POSTGRESQL_ROWS, "p50 µs"),
        0.85);
    atLeast(
        "PostgreSQL, 64 threads apart: answered ÷ ShedLock",
        ratio(Workload.APART_64, MORTISE_POSTGRESQL, POSTGRESQL_SHEDLOCK, "pairs/s"),
        6);
    atLeast(
        "PostgreSQL, 64 threads apart: answered ÷ advisory locks",
        ratio(Workload.APART_64, MORTISE_POSTGRESQL, POSTGRESQL_ADVISORY, "pairs/s"),
        1);
    atLeast(
        "PostgreSQL, 64 threads apart: asynchronous ÷ ShedLock",
        ratio(Workload.APART_64, MORTISE_POSTGRESQL_ASYNC, POSTGRESQL_SHEDLOCK, "pairs/s"),
        9);
    inProcess("PostgreSQL", MORTISE_POSTGRESQL, MORTISE_POSTGRESQL_FAIR);
    atMost(
        "PostgreSQL hand-off between processes: median ÷ advisory locks",
        ratio(Workload.SIGNAL, MORTISE_POSTGRESQL, POSTGRESQL_ADVISORY, "p50 µs"),
        2.6);
    atLeast(
        "PostgreSQL, 4 processes: switches ÷ Spring",
        ratio(Workload.PROCESSES, MORTISE_POSTGRESQL, POSTGRESQL_SPRING, "switches/s"),
        3.5);
  }

  private void mariadb() {
    atMost(
        "MariaDB pair: answered ÷ raw rows",
        ratio(Workload.PAIR, MORTISE_MARIADB, MARIADB_ROWS, "p50 µs"),
        1.15);
    atMost(
        "MariaDB pair: asynchronous ÷ raw rows",
        ratio(Workload.PAIR, MORTISE_MARIADB_ASYNC, MARIADB_ROWS, "p50 µs"),
        0.75);
    atLeast(
        "MariaDB, 64 threads apart: answered ÷ ShedLock",
        ratio(Workload.APART_64, MORTISE_MARIADB, MARIADB_SHEDLOCK, "pairs/s"),
        7.5);
    inProcess("MariaDB", MORTISE_MARIADB, MORTISE_MARIADB_FAIR);
    atMost(
        "MariaDB hand-off between processes: median ÷ GET_LOCK",
        ratio(Workload.SIGNAL, MORTISE_MARIADB, MARIADB_GET_LOCK, "p50 µs"),
        6);
    atLeast(
        "MariaDB, 4 processes: process switches ÷ Spring",
        ratio(Workload.PROCESSES, MORTISE_MARIADB, MARIADB_SPRING, "process switches/s"),
        10);
  }

  private void mysql() {
    atMost(
        "MySQL pair: answered ÷ raw rows",
        ratio(Workload.PAIR, MORTISE_MYSQL, MYSQL_ROWS, "p50 µs"),
        1.15);
    atLeast(
        "MySQL, 64 threads apart: answered ÷ ShedLock",
        ratio(Workload.APART_64, MORTISE_MYSQL, MYSQL_SHEDLOCK, "pairs/s"),
        5);
    atMost(
        "MySQL hand-off between processes: median ÷ GET_LOCK",
        ratio(Workload.SIGNAL, MORTISE_MYSQL, MYSQL_GET_LOCK, "p50 µs"),
        6);
  }

  private void zooKeeper() {
    atMost(
        "ZooKeeper pair: answered ÷ raw nodes",
        ratio(Workload.PAIR, MORTISE_ZOOKEEPER, ZOOKEEPER_NODES, "p50 µs"),
        1.15);
    atMost(
        "ZooKeeper pair: asynchronous ÷ Curator",
        ratio(Workload.PAIR, MORTISE_ZOOKEEPER_ASYNC, CURATOR, "p50 µs"),
        0.5);
    atLeast(
        "ZooKeeper, 64 threads apart: answered ÷ Curator",
        ratio(Workload.APART_64, MORTISE_ZOOKEEPER, CURATOR, "pairs/s"),
        6);
    atLeast(
        "ZooKeeper, 64 threads apart: asynchronous ÷ Curator",
        ratio(Workload.APART_64, MORTISE_ZOOKEEPER_ASYNC, CURATOR, "pairs/s"),
        8);
    atLeast(
        "one lock, 8 threads, ZooKeeper: fair ÷ fair ReentrantLock",
        ratio(Workload.THREADS_8, MORTISE_ZOOKEEPER_FAIR, REENTRANT_FAIR, "acq/s"),
        0.75);
    atLeast(
        "ZooKeeper, 4 processes: switches ÷ Curator",
        ratio(Workload.PROCESSES, MORTISE_ZOOKEEPER, CURATOR, "switches/s"),
        1.3);
    atLeast(
        "ZooKeeper, 4 processes: process switches ÷ Curator",
        ratio(Workload.PROCESSES, MORTISE_ZOOKEEPER, CURATOR, "process switches/s"),
        1);
    atLeast(
        "ZooKeeper, 4 processes, fair: switches ÷ Curator",
        ratio(Workload.PROCESSES, MORTISE_ZOOKEEPER_FAIR, CURATOR, "switches/s"),
        1);
    atMost(
        "ZooKeeper, hand-off between processes ÷ Curator",
        ratio(Workload.SIGNAL, MORTISE_ZOOKEEPER, CURATOR, "p50 µs"),
        1);
    atLeast(
        "Curator's layout, 64 threads apart: answered ÷ Curator",
        ratio(Workload.APART_64, MORTISE_CURATOR, CURATOR, "pairs/s"),
        1);
    atMost(
        "ZooKeeper hand-off: with 5,000 waiters ÷ with 10",
        benchResults.median(Workload.CROWD_5000, MORTISE_ZOOKEEPER_FAIR, "hand-off µs")
            / benchResults.median(Workload.CROWD_10, MORTISE_ZOOKEEPER_FAIR, "hand-off µs"),
        1.5);
    atMost(
        "ZooKeeper, 10,000 held: heap B/lock",
        median(Workload.HELD, MORTISE_ZOOKEEPER, "heap B/lock"),
        220);
  }

  private void etcd() {
    atMost(
        "etcd pair: answered ÷ two transactions",
        ratio(Workload.PAIR, MORTISE_ETCD, ETCD_TRANSACTIONS, "p50 µs"),
        1.15);
    atLeast(
        "etcd, 64 threads apart: answered ÷ two transactions",
        ratio(Workload.APART_64, MORTISE_ETCD, ETCD_TRANSACTIONS, "pairs/s"),
        1.5);
    atMost("etcd pair ÷ jetcd", ratio(Workload.PAIR, MORTISE_ETCD, JETCD, "p50 µs"), 0.6);
    atLeast(
        "etcd, 64 threads apart ÷ jetcd",
        ratio(Workload.APART_64, MORTISE_ETCD, JETCD, "pairs/s"),
        6);
    atMost(
        "etcd hand-off between processes ÷ jetcd",
        ratio(Workload.SIGNAL, MORTISE_ETCD, JETCD, "p50 µs"),
        1);
  }

  private void keysAndValues() {
    atMost(
        "NATS pair ÷ two updates", ratio(Workload.PAIR, MORTISE_NATS, NATS_UPDATES, "p50 µs"), 1.3);
    atMost(
        "Consul pair ÷ two conditional writes",
        ratio(Workload.PAIR, MORTISE_CONSUL, CONSUL_WRITES, "p50 µs"),
        1.3);
    atMost(
        "memcached pair ÷ two meta commands",
        ratio(Workload.PAIR, MORTISE_MEMCACHED, MEMCACHED_ITEMS, "p50 µs"),
        1.1);
    atLeast(
        "memcached, 64 threads apart ÷ a socket per thread",
        ratio(Workload.APART_64, MORTISE_MEMCACHED, MEMCACHED_ITEMS, "pairs/s"),
        2);
  }

  private void dynamoDb() {
    atMost(
        "DynamoDB pair ÷ two conditional updates",
        ratio(Workload.PAIR, MORTISE_DYNAMODB, DYNAMODB_UPDATES, "p50 µs"),
        1.3);
  }

  private void sqlite() {
    atMost(
        "SQLite pair ÷ raw statements",
        ratio(Workload.PAIR, MORTISE_SQLITE, SQLITE_STATEMENTS, "p50 µs"),
        1.2);
    atLeast(
        "SQLite, 64 threads apart ÷ a raw connection per thread",
        ratio(Workload.APART_64, MORTISE_SQLITE, SQLITE_STATEMENTS, "pairs/s"),
        2.5);
    atMost(
        "SQLite hand-off between processes: median, µs",
        median(Workload.SIGNAL, MORTISE_SQLITE, "p50 µs"),
        2000);
    atMost(
        "SQLite, waiting: CPU of the process, % of a core",
        median(Workload.PATIENCE, MORTISE_SQLITE, "waiter cpu %"), 2);
  }

  private double median(Workload workload, Subjects subject, String measure) {
    return benchResults.median(workload, subject, measure);
  }

  private double ratio(Workload workload, Subjects ours, Subjects other, String measure) {
    return benchResults.median(workload, ours, measure)
        / benchResults.median(workload, other, measure);
  }

  private void atMost(String what, double value, double bound) {
    performanceTargets.add(new PerformanceTarget(what, value, bound, true));
  }

  private void atLeast(String what, double value, double bound) {
    performanceTargets.add(new PerformanceTarget(what, value, bound, false));
  }
}
