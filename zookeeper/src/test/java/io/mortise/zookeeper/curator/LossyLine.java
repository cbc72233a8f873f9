package io.mortise.zookeeper.curator;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A port before the server's, which can lose what the server says, and break what is connected. */
final class LossyLine implements AutoCloseable {
  private final ServerSocket listening;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean deaf;

  LossyLine(int target) {
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(
        () -> {
          while (!listening.isClosed()) {
            try {
              Socket client = listening.accept();
              Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
              sockets.add(client);
              sockets.add(server);
              start(() -> copy(client, server, false));
              start(() -> copy(server, client, true));
            } catch (IOException e) {
              // Closed, or the server is down: the client tries again.
            }
          }
        });
  }

  String address() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  /** From now on requests arrive, and answers do not. */
  void loseAnswers() {
    deaf = true;
  }

  /** Breaks all connections; the next ones are good. */
  void breakAndMend() {
    sockets.forEach(LossyLine::drop);
    sockets.clear();
    deaf = false;
  }

  private void copy(Socket from, Socket to, boolean answers) {
    byte[] buffer = new byte[16_384];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!answers || !deaf) {
          out.write(buffer, 0, read);
          out.flush();
        }
      }
    } catch (IOException e) {
      // One end is gone: so is the other.
    }
    drop(from);
    drop(to);
  }

  private static void drop(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "lossy-line");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    drop(listening);
    sockets.forEach(LossyLine::drop);
  }

  private static void drop(ServerSocket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
