/**
 * The lock API, the engine behind it, and the interfaces of stores. Start reading at {@code
 * io.mortise}, or at {@code io.mortise.spi} to write a store.
 */
@SuppressWarnings("module") // qualified exports name modules of stores, which are compiled later
module io.mortise.core {
  requires org.slf4j;
  requires static transitive org.jspecify;
  // If the module is missing, no class of it is touched (io.mortise.internal.event.EventPublisher).
  requires static jdk.jfr;

  exports io.mortise;
  exports io.mortise.admin;
  exports io.mortise.annotation;
  exports io.mortise.event;
  exports io.mortise.function;
  exports io.mortise.guarantee;
  exports io.mortise.recipe;
  exports io.mortise.spi;
  exports io.mortise.spi.time;
  exports io.mortise.internal.client to
      io.mortise.testkit;
  // Unqualified: the ZooKeeper store is on the class path even if this is a module (ADR 60).
  exports io.mortise.internal.queue;
  exports io.mortise.internal.outer to
      io.mortise.support;
  exports io.mortise.internal.recipe to
      io.mortise.recipes;
  exports io.mortise.internal.runtime to
      io.mortise.consul,
      io.mortise.dynamodb,
      io.mortise.etcd,
      io.mortise.jdbc,
      io.mortise.memcached,
      io.mortise.nats,
      io.mortise.quorum,
      io.mortise.recipes,
      io.mortise.redis,
      io.mortise.sql,
      io.mortise.support,
      io.mortise.testkit;

  uses io.mortise.LockClientBuilder;
  uses io.mortise.internal.outer.OuterLockProvider;
  uses io.mortise.internal.recipe.RecipeProvider;
  uses io.mortise.spi.LockStoreProvider;

  provides io.mortise.LockClientBuilder with
      io.mortise.internal.client.EngineClientBuilder;
}
