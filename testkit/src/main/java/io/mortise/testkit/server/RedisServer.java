package io.mortise.testkit.server;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server in a process of its own, on a free port of the loopback, without persistence
 * unless the arguments ask for it. Its folder and its process are gone after {@link #close()}, and
 * at the latest when the JVM ends. For one thread.
 */
public final class RedisServer implements AutoCloseable {
  private static final String RESOURCE = "redis-server-6.2.6-v5-linux-amd64";
  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)");
  private static final long START_SECONDS = 20;

  private static @Nullable Path extracted;

  private final Path binary;
  private final Path folder;
  private final int port;
  private final List<String> command;
  private final Thread atExit = new Thread(this::end, "redis-server-end");
  private @Nullable Process process;
  private @Nullable Process lifeline;

  private RedisServer(Path binary, Path folder, int port, List<String> arguments) {
    this.binary = binary;
    this.folder = folder;
    this.port = port;
    this.command = new ArrayList<>();
    command.addAll(List.of(binary.toString(), "--port", Integer.toString(port)));
    command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--dir", folder.toString()));
    command.addAll(arguments);
  }

  /**
   * The server 6.2 that the artifact {@code com.github.codemonstur:embedded-redis} carries, taken
   * out of it once; empty if the artifact is not on the class path or has none for this machine.
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
        // The last to be registered is deleted first.
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
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      Path file = Path.of(folder, "redis-server");
      if (Files.isExecutable(file)) {
        return version(file) >= major ? Optional.of(file) : Optional.empty();
      }
    }
    return Optional.empty();
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
   * @throws IllegalStateException if it does not come up; the message has what it said
   */
  public static RedisServer start(Path binary, String... arguments) {
    try {
      Path folder = Files.createTempDirectory("mortise-redis");
      RedisServer server = new RedisServer(binary, folder, freePort(), List.of(arguments));
      Runtime.getRuntime().addShutdownHook(server.atExit);
      server.launch();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A port of the loopback that nobody uses now. */
  public static int freePort() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void launch() {
    File log = folder.resolve("server.log").toFile();
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
              .start();
      // Its input ends with this JVM, also with one that is killed and runs no hooks.
      lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
      long start = System.nanoTime();
      while (!answers()) {
        if (!process.isAlive() || System.nanoTime() - start > START_SECONDS * 1_000_000_000L) {
          String said = Files.readString(log.toPath());
          destroy();
          throw new IllegalStateException("Redis did not start: " + binary + "\n" + said);
        }
        Thread.sleep(10);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Any answer but "loading" will do; a server that speaks TLS only is not asked. */
  private boolean answers() {
    if (command.contains("--tls-port")) {
      return reaches(tlsPort());
    }
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      socket.setSoTimeout(1000);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] answer = new byte[8];
      int length = socket.getInputStream().read(answer);
      return length > 0
          && !new String(answer, 0, length, StandardCharsets.US_ASCII).startsWith("-LOADING");
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean reaches(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private int tlsPort() {
    return Integer.parseInt(command.get(command.indexOf("--tls-port") + 1));
  }

  /** The port for plain connections. */
  public int port() {
    return port;
  }

  /** {@code redis://127.0.0.1:port}. */
  public String url() {
    return "redis://127.0.0.1:" + port;
  }

  /** Stops it without warning, as kill -9 does. */
  public void kill() {
    destroy();
  }

  /** Starts it again on the same port and folder, after {@link #kill()} or while it runs. */
  public void restart() {
    destroy();
    launch();
  }

  /** Stops its process from running; connections stay open, and nobody answers. */
  public void pause() {
    signal("-STOP");
  }

  /** Lets it run on. */
  public void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("The server does not run.");
    }
    try {
      new ProcessBuilder("kill", signal, Long.toString(running.pid())).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void destroy() {
    Process running = process;
    Process watching = lifeline;
    if (watching != null) {
      watching.destroyForcibly();
    }
    if (running != null) {
      running.destroyForcibly();
      try {
        running.waitFor(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void end() {
    destroy();
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    end();
  }
}
