package io.mortise.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/**
 * A loopback port in front of a server, with injected network faults: it is cut, slow or silent,
 * loses one direction, breaks connections, or leads to another server. Independent of the protocol.
 * Thread-safe.
 */
public final class FaultInjectionProxy implements AutoCloseable {
  /** The condition of the network. */
  public enum NetworkCondition {
    /** Messages arrive. */
    FAIR,
    /** Messages arrive late, by 20 to 200 ms. */
    SLOW,
    /** Messages arrive 200 ms late, and 2 % of them 800 ms late, as their first packet is lost. */
    LOSSY,
    /** Requests arrive in time, answers late by {@link #ANSWER_DELAY}. */
    ANSWERS_LATE,
    /**
     * Nothing gets through, not even the end of a connection. Messages arrive when the condition
     * ends.
     */
    FROZEN,
    /** Like {@link #FROZEN}, but answers get through. */
    REQUESTS_HELD,
    /** Like {@link #FROZEN}, but requests get through. */
    ANSWERS_HELD,
    /**
     * Requests arrive, answers are lost; connections that lost some break when the condition ends.
     */
    MUTE,
    /**
     * Requests are lost, answers arrive; connections that lost some break when the condition ends.
     */
    DEAF,
    /** Requests arrive without their last byte, which arrives when the condition ends. */
    REQUESTS_CUT_SHORT,
    /** Requests arrive, answers are garbage; connections that received some break later. */
    GARBLED,
    /** Answers arrive byte by byte, with growing delay. */
    DRIPPING,
    /** Each connection breaks at its next message. */
    RESETTING
  }

  /** The delay of answers in {@link NetworkCondition#ANSWERS_LATE}. */
  public static final Duration ANSWER_DELAY = Duration.ofMillis(300);

  private static final int NOWHERE = -1;
  private static final long LEAST_DELAY = 20_000_000;
  private static final long MOST_DELAY = 200_000_000;
  private static final long RESENT_DELAY = 800_000_000;

  /** A client's connection, with its connection to the server. */
  private static final class ProxiedConnection {
    final Socket client;
    final Socket server;

    /** Whether messages were lost, so that it breaks when the network is fair again. */
    volatile boolean spoilt;

    /** Whether it silently loses all messages, whatever the network condition. */
    volatile boolean forgotten;

    /** Whether the server's end is closed without the client's knowledge. */
    volatile boolean halfOpen;

    ProxiedConnection(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    /** Breaks it like a killed process: by a reset, losing messages in flight. */
    void breakOff() {
      FaultInjectionProxy.breakOff(client);
      FaultInjectionProxy.breakOff(server);
    }
  }

  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private final Set<ProxiedConnection> proxiedConnections = ConcurrentHashMap.newKeySet();
  private final ServerSocket listening;
  private final String host;
  private volatile IntSupplier targets;
  private volatile NetworkCondition networkCondition = NetworkCondition.FAIR;

  private FaultInjectionProxy(ServerSocket listening, String host, int target) {
    this.listening = listening;
    this.host = host;
    this.targets = () -> target;
  }

  /** A new port in front of one of the loopback. */
  public static FaultInjectionProxy to(int target) {
    return to(InetAddress.getLoopbackAddress().getHostAddress(), target);
  }

  /** A new port of the loopback in front of a server anywhere. */
  public static FaultInjectionProxy to(String host, int target) {
    return listen(InetAddress.getLoopbackAddress(), 0, host, target);
  }

  /** The same port of another address of this machine, in front of one of the loopback. */
  public static FaultInjectionProxy at(String address, int port) {
    try {
      String loopback = InetAddress.getLoopbackAddress().getHostAddress();
      return listen(InetAddress.getByName(address), port, loopback, port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FaultInjectionProxy listen(
      InetAddress address, int port, String host, int target) {
    try {
      FaultInjectionProxy faultInjectionProxy =
          new FaultInjectionProxy(new ServerSocket(port, 200, address), host, target);
      start(faultInjectionProxy::accept);
      return faultInjectionProxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port for clients. */
  public int port() {
    return listening.getLocalPort();
  }

  /** The number of open connections. */
  public int connections() {
    return proxiedConnections.size();
  }

  /** Applies a network condition to existing and new connections. */
  public void condition(NetworkCondition next) {
    guard.lock();
    try {
      networkCondition = next;
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    if (next == NetworkCondition.FAIR) {
      proxiedConnections.stream().filter(line -> line.spoilt).forEach(ProxiedConnection::breakOff);
    }
  }

  /** Forwards to another port of the same host from now on, and breaks connections. */
  public void lead(int port) {
    targets = () -> port;
    reset();
  }

  /** Forwards new connections to these ports of the same host, in turn. */
  public void spread(int... ports) {
    AtomicInteger next = new AtomicInteger();
    targets = () -> ports[Math.floorMod(next.getAndIncrement(), ports.length)];
  }

  /**
   * Forgets all open connections, like a firewall after an idle timeout: their messages are lost
   * silently. New connections work.
   */
  public void forget() {
    proxiedConnections.forEach(line -> line.forgotten = true);
  }

  /** Refuses new connections from now on, and breaks open ones. */
  public void cut() {
    lead(NOWHERE);
  }

  /** Breaks all open connections at both ends. New connections work. */
  public void reset() {
    proxiedConnections.forEach(ProxiedConnection::breakOff);
  }

  /**
   * Breaks all open connections at the server's end only, as when a host vanishes: clients can send
   * but get no answer. New connections work.
   */
  public void halfOpen() {
    for (ProxiedConnection line : proxiedConnections) {
      line.halfOpen = true;
      breakOff(line.server);
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        start(() -> connect(client));
      } catch (IOException e) {
        // Closed: the loop ends.
      }
    }
  }

  private void connect(Socket client) {
    boolean passes = awaitPassage(NetworkCondition.REQUESTS_HELD) != NetworkCondition.FROZEN;
    IntSupplier chosen = targets;
    int port = passes ? chosen.getAsInt() : NOWHERE;
    if (port == NOWHERE) {
      end(client);
      return;
    }
    try {
      ProxiedConnection line = new ProxiedConnection(client, new Socket(host, port));
      client.setTcpNoDelay(true);
      line.server.setTcpNoDelay(true);
      proxiedConnections.add(line);
      if (targets != chosen || listening.isClosed()) {
        // The target has changed meanwhile, perhaps before this connection was registered.
        line.breakOff();
      }
      start(
          () ->
              carry(
                  line,
                  client,
                  line.server,
                  NetworkCondition.DEAF,
                  NetworkCondition.REQUESTS_HELD));
      carry(line, line.server, client, NetworkCondition.MUTE, NetworkCondition.ANSWERS_HELD);
    } catch (IOException e) {
      end(client);
    }
  }

  /**
   * @param losing the condition that loses messages of this direction
   * @param holding the condition that delays them until it ends
   */
  private void carry(
      ProxiedConnection line,
      Socket from,
      Socket to,
      NetworkCondition losing,
      NetworkCondition holding) {
    byte[] buffer = new byte[16_384];
    // Later bytes of this direction would make no sense; the other direction continues.
    boolean lost = false;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (awaitPassage(holding) == losing) {
          lost = true;
          line.spoilt = true;
          if (networkCondition == NetworkCondition.FAIR) {
            // The condition has just ended: nothing else would break this connection.
            line.breakOff();
          }
        }
        if (!lost && !line.halfOpen && !line.forgotten) {
          pass(line, to == line.client, out, buffer, read);
        }
      }
    } catch (IOException e) {
      // One end is closed, so close the other.
    }
    // A frozen network does not propagate the end of a connection either.
    awaitPassage(holding);
    if (line.halfOpen && from == line.server) {
      return;
    }
    end(line.client);
    end(line.server);
    proxiedConnections.remove(line);
  }

  /** Forwards bytes, changed as the network condition demands. */
  private void pass(
      ProxiedConnection line, boolean answer, OutputStream out, byte[] sent, int length)
      throws IOException {
    NetworkCondition condition = networkCondition;
    if (condition == NetworkCondition.RESETTING) {
      line.breakOff();
    } else if (condition == NetworkCondition.GARBLED && answer) {
      line.spoilt = true;
      out.write("\u0007nonsense\r\n".repeat(1 + length / 11).getBytes(StandardCharsets.UTF_8));
    } else if (condition == NetworkCondition.REQUESTS_CUT_SHORT && !answer) {
      out.write(sent, 0, length - 1);
      awaitPassage(condition);
      out.write(sent, length - 1, 1);
    } else if (condition == NetworkCondition.DRIPPING && answer) {
      for (int i = 0; i < length; i++) {
        out.write(sent, i, 1);
        drip(i);
      }
    } else {
      out.write(sent, 0, length);
    }
  }

  private void drip(int byteNumber) {
    guard.lock();
    try {
      long nanos = Math.min(MOST_DELAY, LEAST_DELAY * (byteNumber + 1));
      while (nanos > 0 && networkCondition == NetworkCondition.DRIPPING) {
        nanos = changed.awaitNanos(nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      guard.unlock();
    }
  }

  /** Waits as the network condition demands. Returns {@code FROZEN} only if the proxy is closed. */
  private NetworkCondition awaitPassage(NetworkCondition holding) {
    if (networkCondition == NetworkCondition.FAIR) {
      return NetworkCondition.FAIR;
    }
    guard.lock();
    try {
      while ((networkCondition == NetworkCondition.FROZEN || networkCondition == holding)
          && !listening.isClosed()) {
        changed.awaitUninterruptibly();
      }
      NetworkCondition delaying = networkCondition;
      long nanos =
          switch (delaying) {
            case SLOW -> ThreadLocalRandom.current().nextLong(LEAST_DELAY, MOST_DELAY);
            case LOSSY -> ThreadLocalRandom.current().nextInt(50) == 0 ? RESENT_DELAY : MOST_DELAY;
            case ANSWERS_LATE ->
                holding == NetworkCondition.ANSWERS_HELD ? ANSWER_DELAY.toNanos() : 0;
            default -> 0;
          };
      while (nanos > 0 && networkCondition == delaying) {
        nanos = changed.awaitNanos(nanos);
      }
      return networkCondition == holding ? NetworkCondition.FROZEN : networkCondition;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return networkCondition;
    } finally {
      guard.unlock();
    }
  }

  private static void breakOff(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException e) {
      // Already closed.
    }
    end(socket);
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The socket is useless in either case.
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    guard.lock();
    try {
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    reset();
  }
}
