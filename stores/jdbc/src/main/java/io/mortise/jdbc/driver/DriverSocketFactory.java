package io.mortise.jdbc.driver;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/** Sockets for a driver that finds their factory by its name. */
public abstract sealed class DriverSocketFactory extends SocketFactory
    permits EagerSocketFactory, ReplyTimeoutSocketFactory {
  DriverSocketFactory() {}

  /**
   * Whether a driver finds a factory by its name: it may stand above us among class loaders.
   *
   * @param driver name of its class
   */
  public static boolean isSeen(Class<? extends DriverSocketFactory> factory, String driver) {
    try {
      ClassLoader drivers = Class.forName(driver).getClassLoader();
      return Class.forName(factory.getName(), false, drivers) == factory;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** One that is not connected. */
  @Override
  public abstract Socket createSocket();

  @Override
  public final Socket createSocket(String host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public final Socket createSocket(String host, int port, InetAddress local, int localPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(local, localPort));
  }

  @Override
  public final Socket createSocket(InetAddress host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public final Socket createSocket(InetAddress host, int port, InetAddress local, int localPort)
      throws IOException {
    return connected(new InetSocketAddress(host, port), new InetSocketAddress(local, localPort));
  }

  private Socket connected(InetSocketAddress address, @Nullable InetSocketAddress local)
      throws IOException {
    Socket socket = createSocket();
    try {
      socket.bind(local);
      socket.connect(address);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** A socket that looks at its timeout before each read. */
  abstract static class DriverSocket extends Socket {
    private volatile int timeout;

    /**
     * Called before each read.
     *
     * @param timeout in ms, as the driver has set it; 0 for none
     */
    abstract void beforeRead(InputStream in, int timeout) throws IOException;

    /** Limits the next read; the driver's own limit is remembered. */
    final void limitRead(int millis) throws SocketException {
      super.setSoTimeout(millis);
    }

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
          beforeRead(in, timeout);
          return super.read();
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
          beforeRead(in, timeout);
          return super.read(bytes, from, length);
        }
      };
    }
  }
}
