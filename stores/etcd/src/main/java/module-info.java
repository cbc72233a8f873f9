/** Locks kept in etcd. Start reading at {@code io.mortise.etcd}. */
module io.mortise.etcd {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires static transitive org.jspecify;

  exports io.mortise.etcd;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.etcd.EtcdStoreProvider;
}
