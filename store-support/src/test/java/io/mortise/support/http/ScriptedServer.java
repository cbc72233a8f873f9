package io.mortise.support.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Plays a script with each connection, in a thread of its own. The connection ends with it. */
final class ScriptedServer implements AutoCloseable {
  private final ServerSocket listening;
  private final ServerScript script;

  /** The requests of clients, each with its body. */
  final List<String> requests = new CopyOnWriteArrayList<>();

  /** The number of accepted connections, and of open ones. */
  final AtomicInteger accepted = new AtomicInteger();

  final AtomicInteger open = new AtomicInteger();

  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  interface ServerScript {
    void play(ClientConnection client) throws Exception;
  }

  /** A connection, as its script sees it. */
  final class ClientConnection {
    private final Socket socket;

    ClientConnection(Socket socket) {
      this.socket = socket;
    }

    /** The next request; null if the client has closed the connection. */
    @Nullable String request() throws IOException {
      InputStream in = socket.getInputStream();
      StringBuilder request = new StringBuilder();
      while (request.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0) {
          return null;
        }
        request.append((char) next);
      }
      int length = request.indexOf("Content-Length: ");
      if (length >= 0) {
        String rest = request.substring(length + "Content-Length: ".length());
        int bytes = Integer.parseInt(rest.substring(0, rest.indexOf('\r')));
        request.append(new String(in.readNBytes(bytes), ISO_8859_1));
      }
      requests.add(request.toString());
      return request.toString();
    }

    int firstByte() throws IOException {
      return socket.getInputStream().read();
    }

    /** Sends the text unchanged. */
    void send(String text) throws IOException {
      socket.getOutputStream().write(text.getBytes(ISO_8859_1));
    }

    /** Sends an answer with that body. */
    void answer(String body) throws IOException {
      send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
    }
  }

  ScriptedServer(ServerScript script) {
    this.script = script;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  /** Answers each request with its number. */
  static ScriptedServer counting() {
    AtomicInteger number = new AtomicInteger();
    return new ScriptedServer(
        client -> {
          while (client.request() != null) {
            client.answer("" + number.incrementAndGet());
          }
        });
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + listening.getLocalPort());
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "scripted-server");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listening.accept();
        socket.setTcpNoDelay(true);
        sockets.add(socket);
        accepted.incrementAndGet();
        open.incrementAndGet();
        start(() -> play(socket));
      }
    } catch (IOException e) {
      // The server was closed.
    }
  }

  private void play(Socket socket) {
    try (socket) {
      script.play(new ClientConnection(socket));
    } catch (Exception e) {
      // The client has disconnected, or the test is over.
    } finally {
      open.decrementAndGet();
    }
  }

  /** Ends all connections, and accepts further ones. */
  void hangUp() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    hangUp();
  }
}
