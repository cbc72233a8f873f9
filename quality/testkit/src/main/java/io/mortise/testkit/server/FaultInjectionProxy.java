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
 * A port of the loopback behind which a server stands, and between the two all that can become of a
 * network: it is cut, slow or silent, it loses one direction, connections break, or the address
 * leads to another server. Knows nothing of what is said. Thread-safe.
 */
public final class FaultInjectionProxy implements AutoCloseable {
  /** What becomes of what is sent. */
  public enum NetworkCondition {
    /** It arrives. */
    FAIR,
    /** It arrives late, by 20 to 200 ms. */
    SLOW,
    /** It arrives 200 ms late, and of a fiftieth the first packet is lost: 800 ms late. */
    LOSSY,
    /** Requests arrive in time, answers late by {@link #ANSWER_DELAY}. */
    ANSWERS_LATE,
    /**
     * Nothing gets through, and nobody is told, not even of ends. What was sent meanwhile arrives
     * when it is over.
     */
    FROZEN,
    /** As frozen, but answers get through. */
    REQUESTS_HELD,
    /** As frozen, but requests get through. */
    ANSWERS_HELD,
    /** Requests arrive, answers are lost; connections that lost some break when it is over. */
    MUTE,
    /** Requests are lost, answers arrive; connections that lost some break when it is over. */
    DEAF,
    /** Requests arrive but for their last byte, which arrives when it is over. */
    REQUESTS_CUT_SHORT,
    /** Requests arrive, and what comes back is nonsense; connections that got some break later. */
    GARBLED,
    /** Answers arrive a byte at a time, and ever more late. */
    DRIPPING,
    /** Each connection breaks as soon as something is sent. */
    RESETTING
  }

  /** How late an answer is in {@link NetworkCondition#ANSWERS_LATE}. */
  public static final Duration ANSWER_DELAY = Duration.ofMillis(300);

  private static final int NOWHERE = -1;
  private static final long LEAST_DELAY = 20_000_000;
  private static final long MOST_DELAY = 200_000_000;
  private static final long RESENT_DELAY = 800_000_000;

  /** A client's connection, and the one to the server that belongs to it. */
  private static final class ProxiedConnection {
    final Socket client;
    final Socket server;

    /** Something was lost: it breaks when the weather is fair again. */
    volatile boolean spoilt;

    /** The weather changes it no more: what is sent is lost, and nobody is told. */
    volatile boolean forgotten;

    /** The server's end is gone, and the client is not told. */
    volatile boolean halfOpen;

    ProxiedConnection(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    /** As when a process is killed: told by a reset, and what was under way is lost. */
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

  /** Where clients connect to. */
  public int port() {
    return listening.getLocalPort();
  }

  /** How many connections there are now. */
  public int connections() {
    return proxiedConnections.size();
  }

  /** From now on it is so. */
  public void weather(NetworkCondition next) {
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

  /** Leads to another port of the same host from now on; connections break. */
  public void lead(int port) {
    targets = () -> port;
    reset();
  }

  /** Leads new connections to these ports of the same host, one after the other. */
  public void spread(int... ports) {
    AtomicInteger next = new AtomicInteger();
    targets = () -> ports[Math.floorMod(next.getAndIncrement(), ports.length)];
  }

  /**
   * Forgets the connections that there are, as a firewall does that saw nothing of them for a
   * while: what is sent on them is lost, and nobody is told. New ones can be made.
   */
  public void forget() {
    proxiedConnections.forEach(line -> line.forgotten = true);
  }

  /** Leads nowhere from now on; connections break. */
  public void cut() {
    lead(NOWHERE);
  }

  /** Breaks all connections that there are, at both ends. New ones can be made. */
  public void reset() {
    proxiedConnections.forEach(ProxiedConnection::breakOff);
  }

  /**
   * Breaks all connections that there are at the server's end, while clients can send on and hear
   * nothing, as when a host vanishes. New ones can be made.
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
        // Changed meanwhile, perhaps before this line was known.
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
   * @param losing in which weather what is sent in this direction is lost
   * @param holding in which it has to wait until that is over
   */
  private void carry(
      ProxiedConnection line,
      Socket from,
      Socket to,
      NetworkCondition losing,
      NetworkCondition holding) {
    byte[] buffer = new byte[16_384];
    // What follows in this direction would make no sense; the other goes on.
    boolean lost = false;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (awaitPassage(holding) == losing) {
          lost = true;
          line.spoilt = true;
          if (networkCondition == NetworkCondition.FAIR) {
            // It was over just now: nobody else breaks this line.
            line.breakOff();
          }
        }
        if (!lost && !line.halfOpen && !line.forgotten) {
          pass(line, to == line.client, out, buffer, read);
        }
      }
    } catch (IOException e) {
      // One end is gone: so is the other.
    }
    // A frozen network does not tell of ends either.
    awaitPassage(holding);
    if (line.halfOpen && from == line.server) {
      return;
    }
    end(line.client);
    end(line.server);
    proxiedConnections.remove(line);
  }

  /** Hands on what was sent, as it is or as the weather wants it. */
  private void pass(
      ProxiedConnection line, boolean answer, OutputStream out, byte[] sent, int length)
      throws IOException {
    NetworkCondition weather = networkCondition;
    if (weather == NetworkCondition.RESETTING) {
      line.breakOff();
    } else if (weather == NetworkCondition.GARBLED && answer) {
      line.spoilt = true;
      out.write("\u0007nonsense\r\n".repeat(1 + length / 11).getBytes(StandardCharsets.UTF_8));
    } else if (weather == NetworkCondition.REQUESTS_CUT_SHORT && !answer) {
      out.write(sent, 0, length - 1);
      awaitPassage(weather);
      out.write(sent, length - 1, 1);
    } else if (weather == NetworkCondition.DRIPPING && answer) {
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

  /** Waits as the weather wants. Returns {@code FROZEN} only if the relay is closed. */
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
      // It is gone already.
    }
    end(socket);
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is of no use any more either way.
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
