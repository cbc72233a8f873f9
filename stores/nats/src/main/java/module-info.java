/** Locks kept in NATS JetStream. Start reading at {@code io.mortise.nats}. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.nats {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires transitive io.nats.jnats;
  requires static transitive org.jspecify;

  exports io.mortise.nats;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.nats.NatsStoreProvider;
}
