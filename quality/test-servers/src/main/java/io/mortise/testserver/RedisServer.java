package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Redis or Valkey server in its own process, on a free port of the loopback, without persistence
 * unless the arguments ask for it. Its folder and process are removed by {@link #close()}, and when
 * the JVM ends. For one thread.
 */
public final class RedisServer extends ServerProcess {
  private static final String RESOURCE = "redis-server-6.2.6-v5-linux-amd64";
  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)");

  private static @Nullable Path extracted;

  private final int tlsPort;
  private final @Nullable RedisSecurity access;

  private RedisServer(
      int port, int tlsPort, @Nullable RedisSecurity access, Path folder, List<String> command) {
    super("redis", port, folder, command, () -> answers(command, port));
    this.tlsPort = tlsPort;
    this.access = access;
  }

  /**
   * The server 6.2 that the artifact {@code com.github.codemonstur:embedded-redis} carries,
   * extracted once; empty if the artifact is not on the class path or has none for this machine.
   */
  public static synchronized Optional<Path> bundled() {
    if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      return Optional.empty();
    }
    if (extracted == null) {
      try (InputStream resource =
          RedisServer.class.getClassLoader().getResourceAsStream(RESOURCE)) {
        if (resource == null) {
          return Optional.empty();
        }
        Path folder = Files.createTempDirectory("mortise-redis");
        Path file = folder.resolve("redis-server");
        Files.copy(resource, file);
        if (!file.toFile().setExecutable(true)) {
          throw new IOException("Cannot make '" + file + "' executable.");
        }
        // Deletion is in reverse order of registration.
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        extracted = file;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return Optional.of(extracted);
  }

  /** The {@code redis-server} on the PATH, if it is of this major version or a later one. */
  public static Optional<Path> installed(int major) {
    return ServerProcess.find("redis-server").filter(file -> version(file) >= major);
  }

  /** The {@code valkey-server} on the PATH, if it is of this major version or a later one. */
  public static Optional<Path> valkey(int major) {
    return ServerProcess.find("valkey-server").filter(file -> version(file) >= major);
  }

  /**
   * A server that can run under a clock, from the PATH or else bundled; empty if there is none. In
   * many distributions the server's memory allocator reads the clock too early.
   */
  public static Optional<Path> under(FakeClock clock) {
    return Stream.of(installed(6), bundled())
        .flatMap(Optional::stream)
        .filter(clock::suits)
        .findFirst();
  }

  private static int version(Path file) {
    try {
      Process asked = new ProcessBuilder(file.toString(), "--version").start();
      String answer = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher version = VERSION.matcher(answer);
      return version.find() ? Integer.parseInt(version.group(1)) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param arguments as on the command line of {@code redis-server}
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static RedisServer start(Path binary, String... arguments) {
    return start(binary, freePort(), arguments);
  }

  /**
   * Starts a server that sees this clock, and waits until it answers.
   *
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static RedisServer start(FakeClock clock, Path binary, String... arguments) {
    return start(clock.prefix(), binary, freePort(), arguments);
  }

  static RedisServer start(Path binary, int port, String... arguments) {
    return start(List.of(), binary, port, arguments);
  }

  /**
   * Starts one of several servers, with a port for TLS beside the plain one if required.
   *
   * @param distance between each of its ports and another that it needs; 0 for none
   */
  static RedisServer start(
      Path binary, @Nullable RedisSecurity access, int distance, String... arguments) {
    if (access == null) {
      return start(binary, freePort(distance), arguments);
    }
    int tlsPort = freePort(distance);
    List<String> all = new ArrayList<>(access.ofServers(tlsPort));
    all.addAll(List.of(arguments));
    return start(List.of(), binary, freePort(), tlsPort, access, all);
  }

  private static RedisServer start(
      List<String> before, Path binary, int port, String... arguments) {
    return start(before, binary, port, 0, null, List.of(arguments));
  }

  private static RedisServer start(
      List<String> before,
      Path binary,
      int port,
      int tlsPort,
      @Nullable RedisSecurity access,
      List<String> arguments) {
    try {
      Path folder = Files.createTempDirectory("mortise-redis");
      List<String> command = new ArrayList<>(before);
      command.addAll(List.of(binary.toString(), "--port", Integer.toString(port)));
      command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--dir", folder.toString()));
      command.addAll(arguments);
      return new RedisServer(port, tlsPort, access, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An unused port of the loopback. */
  public static int freePort() {
    return ServerProcess.freePort();
  }

  /** Whether it answers, except with "loading"; not checked for a server with TLS only. */
  private static boolean answers(List<String> command, int port) throws IOException {
    int tls = command.indexOf("--tls-port");
    if (tls >= 0) {
      ServerProcess.connect(Integer.parseInt(command.get(tls + 1))).close();
      return true;
    }
    try (Socket socket = ServerProcess.connect(port)) {
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] answer = new byte[8];
      int length = socket.getInputStream().read(answer);
      return length > 0
          && !new String(answer, 0, length, StandardCharsets.US_ASCII).startsWith("-LOADING");
    }
  }

  /**
   * Sends a command on a new connection.
   *
   * @return the texts of the answer, in order
   * @throws UncheckedIOException if it does not answer, or with an error
   */
  public List<String> ask(String... words) {
    try {
      return RawRedisConnection.ask(
          port, access == null ? null : access.password(), List.of(words));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port for clients and other servers: that for TLS if required. */
  public int portOfOthers() {
    return access == null ? port : tlsPort;
  }

  /** A field of INFO; empty if it has none of that name. */
  public String info(String field) {
    return ask("INFO")
        .get(0)
        .lines()
        .filter(line -> line.startsWith(field + ":"))
        .map(line -> line.substring(field.length() + 1).trim())
        .findFirst()
        .orElse("");
  }

  /**
   * Whether a field of INFO has this value. Also false without an answer: a server that changes its
   * role breaks its connections, perhaps this one.
   */
  public boolean says(String field, String value) {
    try {
      return info(field).equals(value);
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Whether it is a replica of that server, and connected to it. */
  public boolean follows(RedisServer master) {
    return says("master_link_status", "up")
        && says("master_port", Integer.toString(master.portOfOthers()));
  }

  /** {@code redis://127.0.0.1:port}. */
  @Override
  public String url() {
    return "redis://127.0.0.1:" + port;
  }

  /** Kills it, removes its data, and restarts it. */
  public void restartEmpty() {
    kill();
    emptyFolder();
    restart();
  }
}
