package io.mortise.redis.transport;

import java.io.IOException;

/** Opens the connections of one store by a client library. */
public interface TransportFactory extends AutoCloseable {
  /**
   * Connects. Blocks for seconds at most.
   *
   * @param listener is told about breaks and reconnects; about a new connection before it reads any
   *     answer
   * @throws IOException if connecting fails; exceptions of the client library mean the same, and
   *     their causes say why
   */
  RedisTransport connect(TransportListener listener) throws IOException;

  /**
   * Closes the resources that the connections share, after these are closed. Blocks for seconds at
   * most.
   */
  @Override
  void close();
}
