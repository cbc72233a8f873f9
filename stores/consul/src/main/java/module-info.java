/** Locks kept in Consul. Start reading at {@code io.mortise.consul}. */
module io.mortise.consul {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires static transitive org.jspecify;

  exports io.mortise.consul;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.consul.ConsulStoreProvider;
}
