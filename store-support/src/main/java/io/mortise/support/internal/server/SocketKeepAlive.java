package io.mortise.support.internal.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketOption;
import java.time.Duration;
import java.util.Map;

/**
 * TCP keep-alive with short intervals: by default a system sends the first probe after two hours.
 * Detects dead hosts within a minute, and keeps idle connections known to firewalls.
 */
public final class SocketKeepAlive {
  /** The idle time before the first probe. */
  public static final int IDLE_SECONDS = 30;

  /** The time between probes. */
  public static final int INTERVAL_SECONDS = 10;

  /** The number of unanswered probes after which a connection is dead. */
  public static final int COUNT = 3;

  /**
   * A database connection that was idle for longer is checked before use, for a second at most, or
   * replaced at once if {@code max-in-flight} is below 3 s: firewalls drop idle connections
   * silently.
   */
  public static final Duration UNCHECKED = Duration.ofSeconds(15);

  /** By name, since the JDK's module with the constants may be absent. */
  private static final Map<String, Integer> OPTIONS =
      Map.of(
          "TCP_KEEPIDLE",
          IDLE_SECONDS,
          "TCP_KEEPINTERVAL",
          INTERVAL_SECONDS,
          "TCP_KEEPCOUNT",
          COUNT);

  private SocketKeepAlive() {}

  /**
   * Connects a new socket without write delay and with keep-alive, with the system's intervals if
   * others cannot be set. Blocks. Another thread ends that by closing the socket.
   *
   * @param millis the time limit; more than 0
   */
  public static void connect(Socket socket, InetSocketAddress to, int millis) throws IOException {
    // First: the JDK creates a socket at its first use, and a close() during that use is lost.
    socket.setTcpNoDelay(true);
    socket.connect(to, millis);
    socket.setKeepAlive(true);
    for (SocketOption<?> option : socket.supportedOptions()) {
      Integer value = OPTIONS.get(option.name());
      if (value != null && option.type() == Integer.class) {
        set(socket, option, value);
      }
    }
  }

  @SuppressWarnings("unchecked") // the type was checked
  private static void set(Socket socket, SocketOption<?> option, Integer value) throws IOException {
    socket.setOption((SocketOption<Integer>) option, value);
  }
}
