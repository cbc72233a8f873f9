package io.mortise.jdbc.driver;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sockets for the PostgreSQL driver. After a notification it looks whether there is another one by
 * a read with a timeout of 1 ms, and waits that long every time: longer than all the rest of a
 * hand-off. Here such a read answers at once if nothing has arrived.
 */
public final class EagerSocketFactory extends SocketFactory {
  /** The timeout by which the driver's look is known; nobody waits so short for anything else. */
  private static final int PEEK_MILLIS = 1;

  /** For the driver. */
  public EagerSocketFactory() {}

  @Override
  public Socket createSocket() {
    return new NonWaitingSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress local, int localPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(local, localPort));
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(local, localPort));
  }

  private static Socket connected(InetSocketAddress address, @Nullable InetSocketAddress local)
      throws IOException {
    Socket socket = new NonWaitingSocket();
    try {
      socket.bind(local);
      socket.connect(address);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private static final class NonWaitingSocket extends Socket {
    private volatile int timeout;

    @Override
    public synchronized void setSoTimeout(int millis) throws SocketException {
      super.setSoTimeout(millis);
      timeout = millis;
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          look();
          return super.read();
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
          look();
          return super.read(bytes, from, length);
        }

        private void look() throws IOException {
          if (timeout == PEEK_MILLIS && in.available() == 0) {
            throw new SocketTimeoutException("nothing has arrived");
          }
        }
      };
    }
  }
}
