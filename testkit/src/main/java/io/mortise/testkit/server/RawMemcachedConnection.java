package io.mortise.testkit.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A connection to a memcached on this host that sends lines and reads lines, as another program
 * does. Fails with {@link UncheckedIOException} if there is no answer. For one thread.
 */
public final class RawMemcachedConnection implements AutoCloseable {
  private static final int ANSWER_MILLIS = 30_000;
  private static final int BATCH = 500;
  private static final int MOST_BATCHES = 1_000;

  private final Socket socket;
  private final BufferedReader reader;

  /** Connects to a port of the loopback. */
  public RawMemcachedConnection(int port) {
    try {
      socket = ServerProcess.connect(port);
      socket.setSoTimeout(ANSWER_MILLIS);
      reader =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends a command; its data, if there are any, stand behind the end of its line. */
  public void send(String command) {
    try {
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next line of an answer. */
  public String read() {
    try {
      return String.valueOf(reader.readLine());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends a command, and returns the first line of the answer. */
  public String ask(String command) {
    send(command);
    return read();
  }

  /** Seconds that an item has left; -1 if there is no such item, or it has no end. */
  public long left(String key) {
    String answer = ask("mg " + key + " t");
    return answer.startsWith("HD t") ? Long.parseLong(answer.substring("HD t".length())) : -1;
  }

  /**
   * Stores items of this size until the server has no room for another.
   *
   * @throws IllegalStateException if it takes half a million
   */
  public void fill(int length) {
    String value = "x".repeat(length);
    int sent = 0;
    for (int batch = 0; batch < MOST_BATCHES; batch++) {
      StringBuilder commands = new StringBuilder();
      for (int i = 0; i < BATCH; i++) {
        commands.append("add fill").append(sent++).append(" 0 900 ").append(length).append("\r\n");
        commands.append(value).append(i == BATCH - 1 ? "" : "\r\n");
      }
      send(commands.toString());
      boolean full = false;
      for (int i = 0; i < BATCH; i++) {
        full |= read().startsWith("SERVER_ERROR out of memory");
      }
      if (full) {
        return;
      }
    }
    throw new IllegalStateException("The server took everything.");
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
