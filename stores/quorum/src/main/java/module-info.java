/**
 * Locks that a majority of independent stores grants. Start reading at {@code io.mortise.quorum}.
 */
module io.mortise.quorum {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.mortise.quorum;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.quorum.QuorumStoreProvider;
}
