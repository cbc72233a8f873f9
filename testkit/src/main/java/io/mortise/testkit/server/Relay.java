package io.mortise.testkit.server;

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

/**
 * A port of the loopback behind which another one stands, and between the two a line that can be
 * cut: nothing gets through, and nobody is told, as on a network that loses everything. What was
 * sent meanwhile arrives when the line is whole again. Thread-safe.
 */
final class Relay implements AutoCloseable {
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ServerSocket listening;
  private final int target;
  private boolean cut;
  private boolean closed;

  private Relay(ServerSocket listening, int target) {
    this.listening = listening;
    this.target = target;
  }

  static Relay to(int target) {
    try {
      Relay relay = new Relay(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), target);
      start(relay::accept);
      return relay;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return listening.getLocalPort();
  }

  void cut(boolean value) {
    guard.lock();
    try {
      cut = value;
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  /** Waits while the line is cut. Returns false once the relay is closed. */
  private boolean passes() {
    guard.lock();
    try {
      while (cut && !closed) {
        changed.awaitUninterruptibly();
      }
      return !closed;
    } finally {
      guard.unlock();
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket from = listening.accept();
        sockets.add(from);
        start(() -> connect(from));
      } catch (IOException e) {
        // Closed: the loop ends.
      }
    }
  }

  private void connect(Socket from) {
    if (!passes()) {
      return;
    }
    try {
      Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
      sockets.add(to);
      start(() -> copy(to, from));
      copy(from, to);
    } catch (IOException e) {
      drop(from);
    }
  }

  private void copy(Socket from, Socket to) {
    byte[] buffer = new byte[16_384];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0 && passes(); read = in.read(buffer)) {
        out.write(buffer, 0, read);
        out.flush();
      }
    } catch (IOException e) {
      // One end is gone: so is the other.
    }
    // A cut line does not tell of it either.
    if (passes()) {
      drop(from);
      drop(to);
    }
  }

  private void drop(Socket socket) {
    sockets.remove(socket);
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
    guard.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sockets.forEach(this::drop);
  }
}
