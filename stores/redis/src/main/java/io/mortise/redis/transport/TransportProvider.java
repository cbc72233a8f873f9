package io.mortise.redis.transport;

import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** A client library that store URLs can ask for; found by {@link ServiceLoader}. */
public interface TransportProvider {
  /** The value of the parameter {@code wire}. */
  String wire();

  /** A factory for the connections of one store to a server. Does not connect yet. */
  TransportFactory to(Endpoint endpoint);

  /** The provider of a wire; empty if its artifact is not there. */
  static Optional<TransportProvider> find(String wire) {
    // On a thread of the common pool, the context class loader may not know the application.
    return Stream.concat(
            ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
                .stream(),
            ServiceLoader.load(TransportProvider.class).stream())
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.wire().equals(wire))
        .findFirst();
  }
}
