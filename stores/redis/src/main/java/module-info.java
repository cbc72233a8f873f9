/** Locks kept in Redis. Start reading at {@code io.mortise.redis}. */
@SuppressWarnings("module") // io.mortise.redis.lettuce is compiled later
module io.mortise.redis {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.redis;
  exports io.mortise.redis.transport to
      io.mortise.redis.lettuce;

  uses io.mortise.redis.transport.TransportProvider;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.redis.RedisStoreProvider;
}
