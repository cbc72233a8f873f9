package io.mortise.redis.transport;

import java.io.IOException;

/** Makes the connections of one store by a client library. */
public interface TransportFactory extends AutoCloseable {
  /**
   * Connects. Blocks for seconds at most.
   *
   * @param listener learns what becomes of the connection; of a new one before it reads any answer
   * @throws IOException if that fails; so do exceptions of the client library, whose causes say why
   */
  RedisTransport connect(TransportListener listener) throws IOException;

  /** Ends what the connections share; called when they are closed. Blocks for seconds at most. */
  @Override
  void close();
}
