package io.mortise.redis.transport;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Speaks only the parts of the Redis protocol that a test scripts, and misbehaves on request. */
public final class FakeServer implements AutoCloseable {
  private final ServerSocket listening;
  private final Script script;
  private final Thread accepting;

  /** All commands received so far, on all connections. */
  final Queue<List<?>> received = new ConcurrentLinkedQueue<>();

  final Queue<Peer> peers = new ConcurrentLinkedQueue<>();

  /** The reaction to a command. */
  public interface Script {
    void answer(Peer peer, List<?> command) throws IOException;
  }

  /** The server's side of a connection. */
  public record Peer(Socket socket, int number) {
    public void send(String text) throws IOException {
      OutputStream out = socket.getOutputStream();
      synchronized (this) {
        out.write(text.getBytes(StandardCharsets.UTF_8));
      }
    }

    void close() throws IOException {
      socket.close();
    }
  }

  private FakeServer(int port, Script script) throws IOException {
    this.listening = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    this.script = script;
    this.accepting = new Thread(this::accept, "fake-redis");
    accepting.setDaemon(true);
    accepting.start();
  }

  public static FakeServer start(Script script) throws IOException {
    return new FakeServer(0, script);
  }

  /** Greets as a server does, and leaves other commands to the script. */
  public static FakeServer greeting(Script rest) throws IOException {
    return start(
        (peer, command) -> {
          if (command.get(0).equals("HELLO")) {
            peer.send("%1\r\n+proto\r\n:3\r\n");
          } else {
            rest.answer(peer, command);
          }
        });
  }

  FakeServer again() throws IOException {
    return new FakeServer(port(), script);
  }

  public int port() {
    return listening.getLocalPort();
  }

  Endpoint endpoint(@Nullable String user, @Nullable String password, int database) {
    return new Endpoint(
        "127.0.0.1", port(), database, user, password, false, null, Duration.ofSeconds(3));
  }

  public Endpoint endpoint() {
    return endpoint(null, null, 0);
  }

  private void accept() {
    try {
      while (true) {
        Peer peer = new Peer(listening.accept(), peers.size());
        peers.add(peer);
        Thread thread = new Thread(() -> serve(peer), "fake-redis-peer");
        thread.setDaemon(true);
        thread.start();
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(Peer peer) {
    try {
      RespReader in = new RespReader(peer.socket.getInputStream());
      while (in.read() instanceof List<?> command) {
        received.add(command);
        script.answer(peer, command);
      }
    } catch (IOException e) {
      // Closed by either side.
    }
  }

  void cutAll() throws IOException {
    for (Peer peer : peers) {
      peer.close();
    }
  }

  /** No connection is accepted after this returns. */
  @Override
  public void close() throws IOException {
    listening.close();
    try {
      accepting.join(20_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cutAll();
  }
}
