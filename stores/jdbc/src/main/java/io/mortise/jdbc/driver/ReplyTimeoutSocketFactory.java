package io.mortise.jdbc.driver;

import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Sockets for MariaDB's driver, whose timeout bounds each read: a server that sends byte by byte
 * would keep a caller for as long as it likes. Here the time counts from the last write, so that it
 * bounds the whole reply.
 */
public final class ReplyTimeoutSocketFactory extends DriverSocketFactory {
  /** For the driver. */
  public ReplyTimeoutSocketFactory() {}

  @Override
  public Socket createSocket() {
    return new ReplyTimeoutSocket();
  }

  private static final class ReplyTimeoutSocket extends DriverSocket {
    /** When the last request was written, or the connection was asked for. */
    private volatile long asked;

    @Override
    public void connect(SocketAddress address, int millis) throws IOException {
      asked = Ticker.SYSTEM.nanos();
      super.connect(address, millis);
    }

    @Override
    void beforeRead(InputStream in, int timeout) throws IOException {
      if (timeout > 0) {
        long left = timeout - TimeUnit.NANOSECONDS.toMillis(Ticker.SYSTEM.nanos() - asked);
        if (left <= 0) {
          throw new SocketTimeoutException(
              "no whole reply within " + DurationText.format(Duration.ofMillis(timeout)));
        }
        limitRead((int) left);
      }
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(int one) throws IOException {
          asked = Ticker.SYSTEM.nanos();
          out.write(one);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          asked = Ticker.SYSTEM.nanos();
          out.write(bytes, from, length);
        }
      };
    }
  }
}
