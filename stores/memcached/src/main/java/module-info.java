/** Efficiency locks kept in memcached. Start reading at {@code io.mortise.memcached}. */
module io.mortise.memcached {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.memcached;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.memcached.MemcachedStoreProvider;
}
