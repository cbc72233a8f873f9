package io.mortise.torture.hazards;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Redis server on this host by the plain protocol, as much of it as a naive lock
 * needs. For one thread.
 */
final class RedisConnection implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;

  RedisConnection(int port) throws IOException {
    socket = new Socket();
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5000);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(20_000);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  /** Sends a command and waits for its answer: a text, a number as text, a list, or null. */
  @Nullable Object call(String... words) {
    send(words);
    return receive();
  }

  /** The naive lock: whether it was free and is ours now. */
  boolean lock(String name, String holder, long millis) {
    return "OK".equals(call("SET", name, holder, "NX", "PX", Long.toString(millis)));
  }

  /** How often the server has executed this command since its start. */
  long executed(String command) {
    String line = "cmdstat_" + command.toLowerCase(Locale.ROOT) + ":calls=";
    return String.valueOf(call("INFO", "commandstats"))
        .lines()
        .filter(each -> each.startsWith(line))
        .mapToLong(each -> Long.parseLong(each.substring(line.length(), each.indexOf(','))))
        .findFirst()
        .orElse(0);
  }

  /** Sends a command and waits for nothing. */
  void send(String... words) {
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

  /** How long {@link #receive} waits. */
  void patience(int millis) {
    try {
      socket.setSoTimeout(millis);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next answer. */
  @Nullable Object receive() {
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
      default -> throw new IOException("Redis answered " + line);
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
