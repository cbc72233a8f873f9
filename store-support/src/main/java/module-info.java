/**
 * The building blocks of stores: the lock table, documents, liveness, HTTP; and the in-memory store
 * that is the reference for all others. Start reading at {@code io.mortise.support.document}.
 */
@SuppressWarnings("module") // qualified exports name modules of stores, which are compiled later
module io.mortise.support {
  requires transitive io.mortise.core;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.support.document;
  exports io.mortise.support.expiring to
      io.mortise.memcached,
      io.mortise.redis;
  exports io.mortise.support.http to
      io.mortise.consul,
      io.mortise.dynamodb,
      io.mortise.etcd;
  exports io.mortise.support.internal.document to
      io.mortise.consul,
      io.mortise.dynamodb,
      io.mortise.etcd,
      io.mortise.jdbc,
      io.mortise.nats;
  // Unqualified: the ZooKeeper store is on the class path even if this is a module (ADR 60).
  exports io.mortise.support.internal.server;
  exports io.mortise.support.internal.session;
  exports io.mortise.support.liveness to
      io.mortise.dynamodb,
      io.mortise.jdbc,
      io.mortise.redis,
      io.mortise.testkit;
  exports io.mortise.support.memory to
      io.mortise.testkit;
  exports io.mortise.support.partition to
      io.mortise.memcached,
      io.mortise.redis,
      io.mortise.testkit;
  exports io.mortise.support.table to
      io.mortise.jdbc,
      io.mortise.testkit;

  provides io.mortise.internal.outer.OuterLockProvider with
      io.mortise.support.outer.OuterLockStoreProvider;
  provides io.mortise.spi.LockStoreProvider with
      io.mortise.support.memory.MemStoreProvider;
}
