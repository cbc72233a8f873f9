package io.mortise.redis.transport;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the endpoint of a transport. Asked before each connection, since servers change their
 * roles.
 */
public interface EndpointResolver {
  /**
   * The endpoint to connect to now. Blocks for seconds at most.
   *
   * @throws IOException if it cannot be determined
   * @throws ErrorReplyException if the server that should know refuses to tell
   */
  Endpoint resolve() throws IOException;

  /**
   * Checks the server found there before any other command is sent.
   *
   * @param role as the server told: {@code master} or {@code replica}
   * @param server sends it more questions
   * @throws IOException if the server will not do; the endpoint is then resolved again
   */
  default void check(Endpoint found, String role, ServerQuestion server) throws IOException {}

  /** Asks a server on a connection that is not in use yet. */
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
