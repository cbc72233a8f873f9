/** Locks kept in Redis. Start reading at {@code io.mortise.redis}. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.redis {
  requires transitive io.mortise.core;
  requires transitive lettuce.core;
  requires io.netty.common;
  requires io.netty.transport;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.redis;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.redis.RedisStoreProvider;
}
