package io.mortise.redis.transport;

import io.mortise.spi.time.Ticker;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A connection for a few requests, one after the other. For one thread. */
public final class BlockingConnection implements AutoCloseable {
  private final RespConnection respConnection;

  private BlockingConnection(RespConnection respConnection) {
    this.respConnection = respConnection;
  }

  /**
   * Connects. Blocks, for the endpoint's timeout at most.
   *
   * @throws ErrorReplyException if the server refuses
   * @throws IOException if it cannot be reached
   */
  public static BlockingConnection to(Endpoint endpoint, Ticker ticker) throws IOException {
    RespConnection respConnection = new RespConnection(endpoint, ticker);
    try {
      respConnection.open();
      return new BlockingConnection(respConnection);
    } catch (IOException | RuntimeException | Error e) {
      respConnection.kill();
      throw e;
    }
  }

  /**
   * Sends a command. Blocks, for the endpoint's timeout at most.
   *
   * @throws ErrorReplyException if the server answers with an error
   * @throws IOException if it does not answer
   */
  public @Nullable Object ask(String... words) throws IOException {
    return respConnection.ask(words);
  }

  @Override
  public void close() {
    respConnection.kill();
  }
}
