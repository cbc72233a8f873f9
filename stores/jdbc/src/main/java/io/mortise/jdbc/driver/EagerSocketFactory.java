package io.mortise.jdbc.driver;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;

/**
 * Sockets for the PostgreSQL driver. After a notification it looks whether there is another one by
 * a read with a timeout of 1 ms, and waits that long every time: longer than all the rest of a
 * hand-off. Here such a read answers at once if nothing has arrived.
 */
public final class EagerSocketFactory extends DriverSocketFactory {
  /** The timeout by which the driver's look is known; nobody waits so short for anything else. */
  private static final int PEEK_MILLIS = 1;

  /** For the driver. */
  public EagerSocketFactory() {}

  @Override
  public Socket createSocket() {
    return new NonWaitingSocket();
  }

  private static final class NonWaitingSocket extends DriverSocket {
    @Override
    void beforeRead(InputStream in, int timeout) throws IOException {
      if (timeout == PEEK_MILLIS && in.available() == 0) {
        throw new SocketTimeoutException("nothing has arrived");
      }
    }
  }
}
