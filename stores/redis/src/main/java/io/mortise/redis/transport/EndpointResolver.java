package io.mortise.redis.transport;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Where a transport connects to. Asked anew before each connection, for servers change their roles.
 */
public interface EndpointResolver {
  /**
   * Where to connect to now. Blocks for seconds at most.
   *
   * @throws IOException if that cannot be found out
   * @throws ErrorReplyException if the server that should know refuses to tell
   */
  Endpoint resolve() throws IOException;

  /**
   * Looks at the server that was found there before anything is asked of it.
   *
   * @param role as the server told: {@code master} or {@code replica}
   * @param server asks it more
   * @throws IOException if it will not do; it is then looked for again
   */
  default void check(Endpoint found, String role, ServerQuestion server) throws IOException {}

  /** Asks a server on a connection that nobody else uses yet. */
  interface ServerQuestion {
    /**
     * Blocks, for the endpoint's timeout at most.
     *
     * @throws ErrorReplyException if the server refuses
     * @throws IOException if it does not answer
     */
    @Nullable Object ask(String... words) throws IOException;
  }

  /** Always the same. */
  static EndpointResolver fixed(Endpoint endpoint) {
    return new EndpointResolver() {
      @Override
      public Endpoint resolve() {
        return endpoint;
      }

      @Override
      public String toString() {
        return endpoint.toString();
      }
    };
  }
}
