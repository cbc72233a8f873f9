package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A minimal connection to a Redis on this host. For one thread. */
public class RawRedisConnection implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;

  private final Socket socket;
  private final DataInputStream in;

  /**
   * Connects.
   *
   * @throws IOException if the connection is refused
   */
  public RawRedisConnection(int port) throws IOException {
    socket = ServerProcess.connect(port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MILLIS);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /**
   * Sends a command on a new connection.
   *
   * @param password null if none is required
   * @return the texts of the answer, in order, however they are nested
   * @throws IOException if there is no answer, or an error
   */
  static List<String> ask(int port, @Nullable String password, List<String> words)
      throws IOException {
    try (RawRedisConnection conversation = new RawRedisConnection(port)) {
      if (password != null) {
        conversation.call("AUTH", password);
      }
      List<String> texts = new ArrayList<>();
      flatten(conversation.call(words.toArray(String[]::new)), texts);
      return texts;
    } catch (UncheckedIOException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static void flatten(@Nullable Object answer, List<String> texts) {
    if (answer instanceof List<?> list) {
      list.forEach(each -> flatten(each, texts));
    } else if (answer != null) {
      texts.add(answer.toString());
    }
  }

  /**
   * Sends a command and waits for its answer: a text, a number as text, a list, or null.
   *
   * @throws UncheckedIOException if none comes, or an error
   */
  public final @Nullable Object call(String... words) {
    send(words);
    return receive();
  }

  /** Sends a command without waiting. */
  public final void send(String... words) {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      text.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
      text.append(word).append("\r\n");
    }
    try {
      socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sets the timeout of {@link #receive}; 20 s by default. */
  public final void patience(int millis) {
    try {
      socket.setSoTimeout(millis);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next answer. */
  public final @Nullable Object receive() {
    try {
      return read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private @Nullable Object read() throws IOException {
    String line = line();
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case '+', ':' -> {
        return rest;
      }
      case '$' -> {
        int length = Integer.parseInt(rest);
        if (length < 0) {
          return null;
        }
        byte[] text = new byte[length + 2];
        in.readFully(text);
        return new String(text, 0, length, StandardCharsets.UTF_8);
      }
      case '*' -> {
        List<@Nullable Object> list = new ArrayList<>();
        for (int left = Integer.parseInt(rest); left > 0; left--) {
          list.add(read());
        }
        return list;
      }
      default -> throw new IOException("Redis answered: " + rest);
    }
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\r'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("Redis closed the connection.");
      }
      line.append((char) next);
    }
    in.skipNBytes(1);
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
