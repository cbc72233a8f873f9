package io.mortise.torture.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Stands between one client process and the server, and lets the network go wrong. */
final class Proxy implements AutoCloseable {
  /** What becomes of what is sent. */
  enum Weather {
    /** It arrives. */
    FAIR,
    /** It arrives late, 20 to 200 ms. */
    SLOW,
    /** Nothing arrives; what was sent meanwhile arrives when it is over, late as that is. */
    FROZEN,
    /** What the client sends arrives, answers do not; its connections break when it is over. */
    MUTE
  }

  private final String host;
  private final int port;
  private final ServerSocket server;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Set<Socket> deaf = ConcurrentHashMap.newKeySet();
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private volatile Weather weather = Weather.FAIR;

  Proxy(String host, int port) {
    this.host = host;
    this.port = port;
    try {
      server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "torture-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return server.getLocalPort();
  }

  void weather(Weather next) {
    guard.lock();
    try {
      weather = next;
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    if (next == Weather.FAIR) {
      deaf.forEach(Proxy::end);
      deaf.clear();
    }
  }

  /** Breaks all connections that there are. */
  void reset() {
    open.forEach(Proxy::end);
  }

  private static void end(Socket socket) {
    try {
      // The other side is told by a reset, not by an end.
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        start(() -> connect(client));
      } catch (IOException e) {
        // Closed.
      }
    }
  }

  private void connect(Socket client) {
    try {
      awaitWeather();
      Socket upstream = new Socket(host, port);
      client.setTcpNoDelay(true);
      upstream.setTcpNoDelay(true);
      open.add(client);
      open.add(upstream);
      start(() -> carry(client, upstream, false));
      carry(upstream, client, true);
    } catch (IOException e) {
      end(client);
    }
  }

  private void carry(Socket from, Socket to, boolean answers) {
    byte[] buffer = new byte[16_384];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        Weather now = awaitWeather();
        if (now == Weather.MUTE && answers) {
          deaf.add(from);
          deaf.add(to);
        }
        if (!answers || !deaf.contains(from)) {
          out.write(buffer, 0, count);
        }
      }
    } catch (IOException e) {
      // Broken, by us or by them.
    } finally {
      end(from);
      end(to);
      open.remove(from);
      open.remove(to);
    }
  }

  private Weather awaitWeather() {
    if (weather == Weather.FAIR) {
      return Weather.FAIR;
    }
    guard.lock();
    try {
      while (weather == Weather.FROZEN) {
        changed.awaitUninterruptibly();
      }
      if (weather == Weather.SLOW) {
        long nanos = 20_000_000L + (System.nanoTime() % 180) * 1_000_000L;
        while (nanos > 0 && weather == Weather.SLOW) {
          nanos = changed.awaitNanos(nanos);
        }
      }
      return weather;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return weather;
    } finally {
      guard.unlock();
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    weather(Weather.FAIR);
    reset();
  }
}
