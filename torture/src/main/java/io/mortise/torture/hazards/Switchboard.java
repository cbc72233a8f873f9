package io.mortise.torture.hazards;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An address that leads to a server, and can be made to lead to another or to none: what a floating
 * address, a DNS name or a cable does. Thread-safe.
 */
final class Switchboard implements AutoCloseable {
  private static final int NOWHERE = -1;

  private final ServerSocket socket;
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private volatile int target;

  Switchboard(int target) {
    this.target = target;
    try {
      socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon("switchboard", this::accept);
  }

  int port() {
    return socket.getLocalPort();
  }

  /** Leads nowhere from now on; connections break. */
  void cut() {
    lead(NOWHERE);
  }

  /** Leads there from now on; connections break. */
  void lead(int port) {
    target = port;
    connections.forEach(Switchboard::hangUp);
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket caller = socket.accept();
        connections.add(caller);
        int port = target;
        if (port == NOWHERE) {
          hangUp(caller);
          continue;
        }
        Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
        connections.add(server);
        if (target != port) {
          // Switched meanwhile, perhaps before these two were known.
          hangUp(server);
          hangUp(caller);
        }
        daemon("switchboard-to", () -> copy(caller, server));
        daemon("switchboard-from", () -> copy(server, caller));
      } catch (IOException e) {
        // Nobody there, or closed: the caller notices.
      }
    }
  }

  private void copy(Socket from, Socket to) {
    byte[] bytes = new byte[8192];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
        out.write(bytes, 0, length);
      }
    } catch (IOException e) {
      // Broken, on purpose or by an end: so is the other direction.
    } finally {
      connections.remove(from);
      connections.remove(to);
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void hangUp(Socket connection) {
    try {
      connection.close();
    } catch (IOException e) {
      // It is gone, as it should be.
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
    connections.forEach(Switchboard::hangUp);
  }
}
