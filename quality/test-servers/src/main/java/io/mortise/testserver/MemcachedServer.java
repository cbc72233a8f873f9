package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A memcached in its own process, on a free port of the loopback: the program {@code memcached} of
 * the PATH. It forgets everything when it ends. Its process ends with {@link #close()}, and with
 * the JVM. For one thread.
 */
public final class MemcachedServer extends ServerProcess {
  private MemcachedServer(int port, Path folder, List<String> command) {
    super("memcached", port, folder, command, () -> isReady(port));
  }

  /** The program on the PATH; empty if there is none. */
  public static Optional<Path> installed() {
    return ServerProcess.find("memcached");
  }

  /**
   * Starts a server, and waits until it serves.
   *
   * @param program see {@link #installed()}
   * @param arguments more of them, in the program's own form: {@code -M} for one that does not
   *     evict
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static MemcachedServer start(Path program, String... arguments) {
    return start(List.of(), program, arguments);
  }

  /**
   * Starts a server that sees this clock as its time of day, and waits until it serves.
   *
   * @param program one that {@linkplain FakeClock#suits suits} the clock
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static MemcachedServer start(FakeClock clock, Path program, String... arguments) {
    return start(clock.prefix(), program, arguments);
  }

  private static MemcachedServer start(List<String> prefix, Path program, String... arguments) {
    int port = ServerProcess.freePort();
    try {
      List<String> command = new ArrayList<>(prefix);
      command.add(program.toString());
      command.addAll(List.of("-l", "127.0.0.1", "-p", Integer.toString(port)));
      if (ServerProcess.isRoot()) {
        command.addAll(List.of("-u", "root"));
      }
      command.addAll(List.of(arguments));
      return new MemcachedServer(port, Files.createTempDirectory("mortise-memcached"), command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether it answers, even if it demands authentication. */
  private static boolean isReady(int port) throws IOException {
    try (Socket socket = ServerProcess.connect(port);
        BufferedReader reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      socket.getOutputStream().write("mn\r\n".getBytes(StandardCharsets.UTF_8));
      return reader.readLine() != null;
    }
  }

  /** {@code memcached://127.0.0.1:port}. */
  @Override
  public String url() {
    return "memcached://127.0.0.1:" + port;
  }

  /**
   * A connection to a memcached on this host that sends lines and reads lines, as another program
   * does. Fails with {@link UncheckedIOException} if there is no answer. For one thread.
   */
  public static final class RawMemcachedConnection implements AutoCloseable {
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

    /** Sends a command; data, if any, follow its line. */
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

    /** The remaining seconds of an item; -1 if there is no such item, or it does not expire. */
    public long left(String key) {
      String answer = ask("mg " + key + " t");
      // Other flags may follow.
      return answer.startsWith("HD t")
          ? Long.parseLong(answer.substring("HD t".length()).split(" ", 2)[0])
          : -1;
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
          commands
              .append("add fill")
              .append(sent++)
              .append(" 0 900 ")
              .append(length)
              .append("\r\n");
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
}
