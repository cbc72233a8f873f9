package io.mortise.quorum;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Redlock as published, and as usually implemented: the positive control of fault tests. {@code SET
 * NX PX} on one server after the other, a majority holds, release and extension compare the value.
 * It lacks the necessary precautions around that: see each method. For one thread.
 */
final class PublishedRedlock implements AutoCloseable {
  private static final String RELEASE =
      "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";
  private static final String EXTEND =
      "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return 0";

  private final List<Integer> ports;
  private final Duration patience;
  private final Map<Integer, Socket> sockets = new HashMap<>();
  private final String me = UUID.randomUUID().toString();
  private long validUntil;

  /**
   * @param patience how long to wait for one server
   */
  PublishedRedlock(List<Integer> ports, Duration patience) {
    this.ports = ports;
    this.patience = patience;
  }

  /**
   * Whether a majority granted. Ignores how long that took ({@link #believes} does not), and after
   * a failure releases only where a grant was answered.
   */
  boolean acquire(String name, Duration ttl) {
    long began = System.nanoTime();
    Set<Integer> granted = new HashSet<>();
    for (int port : ports) {
      if (ask(port, "SET", name, me, "NX", "PX", millis(ttl)).equals("+OK")) {
        granted.add(port);
      }
    }
    boolean holds = granted.size() >= ports.size() / 2 + 1;
    if (holds) {
      // As published: the TTL, less the time it took, less drift.
      validUntil = began + ttl.toNanos() - ttl.toNanos() / 100 - 2_000_000;
    } else {
      granted.forEach(port -> ask(port, "EVAL", RELEASE, "1", name, me));
    }
    return holds;
  }

  /** Whether the lock is held by the published rule. */
  boolean believes() {
    return validUntil - System.nanoTime() > 0;
  }

  /** The behaviour of a watchdog: extends it wherever it can. Returns whether any server did so. */
  boolean extend(String name, Duration ttl) {
    int extended = 0;
    for (int port : ports) {
      extended += ask(port, "EVAL", EXTEND, "1", name, me, millis(ttl)).equals(":1") ? 1 : 0;
    }
    return extended > 0;
  }

  /** On how many servers this client has the lock now. */
  int votes(String name) {
    int votes = 0;
    for (int port : ports) {
      votes += ask(port, "GET", name).equals(me) ? 1 : 0;
    }
    return votes;
  }

  private static String millis(Duration duration) {
    return Long.toString(duration.toMillis());
  }

  /** Empty if there is no answer. A request sent by then may be executed at any later time. */
  private String ask(int port, String... words) {
    boolean known = sockets.containsKey(port);
    try {
      return askOnce(port, words);
    } catch (SocketTimeoutException e) {
      drop(sockets.remove(port));
      return "";
    } catch (IOException e) {
      // The server was restarted: retries once.
      drop(sockets.remove(port));
      return known ? ask(port, words) : "";
    }
  }

  private String askOnce(int port, String... words) throws IOException {
    Socket socket = sockets.get(port);
    if (socket == null) {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout((int) patience.toMillis());
      sockets.put(port, socket);
    }
    StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      command.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.US_ASCII));
    DataInputStream in = new DataInputStream(socket.getInputStream());
    String head = line(in);
    return head.startsWith("$") && !head.equals("$-1") ? line(in) : head;
  }

  private static String line(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("The server closed the connection.");
      } else if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  private static void drop(Socket socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // It is useless either way.
    }
  }

  @Override
  public void close() {
    sockets.values().forEach(PublishedRedlock::drop);
  }
}
