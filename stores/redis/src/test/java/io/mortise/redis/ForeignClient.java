package io.mortise.redis;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A client in another language, as far as a server can tell: it speaks the protocol over a socket
 * and locks as published. Shares no code with ours. For one thread.
 */
final class ForeignClient implements AutoCloseable {
  private static final String UNLOCK =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

  private static final String EXTEND =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

  /**
   * The re-entrant hash: enters unless another client is in; answers how long that one may stay.
   */
  private static final String ENTER =
      "if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then"
          + " redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return nil end"
          + " return redis.call('pttl', KEYS[1])";

  /** Leaves once; the last exit notifies the waiters. */
  private static final String LEAVE =
      "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end"
          + " if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then"
          + " redis.call('pexpire', KEYS[1], ARGV[2]) return 0 end"
          + " redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], '0') return 1";

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  ForeignClient(int port) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout(20_000);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      out = socket.getOutputStream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean lock(String name, String token, long ttlMillis) {
    return "OK".equals(call("SET", name, token, "NX", "PX", Long.toString(ttlMillis)));
  }

  boolean unlock(String name, String token) {
    return Long.valueOf(1).equals(call("EVAL", UNLOCK, "1", name, token));
  }

  boolean extend(String name, String token, long ttlMillis) {
    return Long.valueOf(1).equals(call("EVAL", EXTEND, "1", name, token, Long.toString(ttlMillis)));
  }

  boolean enter(String name, String holder, long ttlMillis) {
    return call("EVAL", ENTER, "1", name, holder, Long.toString(ttlMillis)) == null;
  }

  boolean leave(String name, String holder) {
    String channel = "redisson_lock__channel:{" + name + "}";
    return Long.valueOf(1).equals(call("EVAL", LEAVE, "2", name, channel, holder, "30000"));
  }

  @Nullable Object call(String... words) {
    StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      int length = word.getBytes(StandardCharsets.UTF_8).length;
      command.append('$').append(length).append("\r\n").append(word).append("\r\n");
    }
    try {
      out.write(command.toString().getBytes(StandardCharsets.UTF_8));
      out.flush();
      return read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next push of a subscription: kind, channel, message. */
  @Nullable Object read() throws IOException {
    String line = line();
    return switch (line.charAt(0)) {
      case '+' -> line.substring(1);
      case ':' -> Long.valueOf(line.substring(1));
      case '$' -> text(Integer.parseInt(line.substring(1)));
      case '*' -> {
        int size = Integer.parseInt(line.substring(1));
        List<@Nullable Object> list = new ArrayList<>();
        for (int i = 0; i < size; i++) {
          list.add(read());
        }
        yield list;
      }
      default -> throw new AssertionError("The server answered " + line);
    };
  }

  private @Nullable String text(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = in.readNBytes(length);
    line();
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("The server hung up.");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
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
