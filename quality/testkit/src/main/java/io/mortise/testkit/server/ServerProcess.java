package io.mortise.testkit.server;

import io.mortise.annotation.Beta;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server that runs a local program, with its own folder. Both end with {@link #close()} and with
 * the JVM. A killed JVM may leave children, and the folder of a paused server.
 *
 * <p>A subclass has a static method that makes the folder and the command, on a {@link #freePort},
 * and a constructor that starts them. Needs {@code sh} and {@code kill}. For one thread.
 */
@Beta
public abstract class ServerProcess implements LocalServer {
  private static final long START_SECONDS = 100;
  private static final long STOP_SECONDS = 20;

  /** The most checks for a paused process, a millisecond apart. */
  private static final int MOST_LOOKS = 10_000;

  /** See {@link #port()}. */
  protected final int port;

  private final String name;
  private final Path folder;
  private final List<String> command;
  private final ReadinessProbe readinessProbe;
  private final Thread atExit;
  private @Nullable Process process;
  private @Nullable Process lifeline;
  private @Nullable String stopSignal;

  /** Probes a server repeatedly until it is ready. */
  @FunctionalInterface
  public interface ReadinessProbe {
    /**
     * Whether it serves.
     *
     * @throws IOException if it does not answer yet
     */
    boolean isReady() throws IOException;
  }

  /** Fills an empty folder. */
  @FunctionalInterface
  protected interface FolderInitializer {
    /** Fills it. */
    void make(Path folder) throws IOException;
  }

  /**
   * Starts the program, and waits until it is ready, for 100 seconds at most. Its output goes to a
   * file in the folder.
   *
   * @param name for messages
   * @param port see {@link #port()}
   * @param folder exists, and belongs to the server from now on
   * @param command the program and its arguments; a restart repeats it
   * @throws IllegalStateException if it does not come up; the message has its output
   * @throws UncheckedIOException if the program cannot be started
   */
  @SuppressWarnings("this-escape") // a hook that runs when the JVM ends
  protected ServerProcess(
      String name, int port, Path folder, List<String> command, ReadinessProbe readinessProbe) {
    this.name = name;
    this.port = port;
    this.folder = folder;
    this.command = List.copyOf(command);
    this.readinessProbe = readinessProbe;
    this.atExit = new Thread(this::end, name + "-end");
    Runtime.getRuntime().addShutdownHook(atExit);
    launch();
  }

  /** An executable file on the PATH, or in a folder of root's PATH. */
  protected static Optional<Path> find(String program) {
    String folders =
        System.getenv().getOrDefault("PATH", "")
            + File.pathSeparator
            + String.join(File.pathSeparator, "/usr/sbin", "/usr/local/sbin", "/usr/libexec");
    return Stream.of(folders.split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, program))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }

  /** Whether this JVM runs as root, which some servers refuse by default. */
  protected static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  /**
   * Reserves a free port of the loopback, 11000 to 21999. No other caller in any JVM of this user
   * gets it while this JVM lives.
   *
   * @throws IllegalStateException if none is free
   */
  public static int freePort() {
    return PortAllocator.reserveWith(0);
  }

  /** The same, where the port that is so much higher is reserved too. */
  protected static int freePort(int distance) {
    return PortAllocator.reserveWith(distance);
  }

  /** Connects to a port of the loopback. Blocks for five seconds at most, as each read does. */
  public static Socket connect(int port) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5000);
      socket.setSoTimeout(5000);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends one request over HTTP to the loopback, without encryption, and waits for the answer.
   *
   * @return the answer, with its head
   */
  protected static String askHttp(int port, String method, String path, String body)
      throws IOException {
    String request =
        "%s %s HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: %s\r\n\r\n%s"
            .formatted(method, path, body.getBytes(StandardCharsets.UTF_8).length, body);
    try (Socket socket = connect(port)) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * Creates a folder that many servers need and that takes long: once per build, in Maven's build
   * folder, or else once per JVM. Safe for several processes.
   */
  protected static synchronized Path once(String name, FolderInitializer folderInitializer)
      throws IOException {
    Path target = Path.of("target").toAbsolutePath();
    Path parent = target.resolve("servers");
    if (Files.isDirectory(target)) {
      Files.createDirectories(parent);
    } else {
      parent = Files.createTempDirectory("mortise-servers");
      Path temporary = parent;
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> deleteTree(temporary), "mortise-servers-end"));
    }
    Path made = parent.resolve(name);
    try (FileChannel channel =
        FileChannel.open(
            parent.resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      // Held until the channel is closed.
      channel.lock();
      if (!Files.isDirectory(made)) {
        Path half = parent.resolve(name + ".half");
        deleteTree(half);
        Files.createDirectory(half);
        folderInitializer.make(half);
        Files.move(half, made, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    return made;
  }

  /** Runs a program to its end. */
  protected static void run(Path folder, List<String> command) throws IOException {
    Path log = Files.createTempFile("mortise-run", ".log");
    try {
      Process running =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (!running.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
        running.destroyForcibly();
        throw new IllegalStateException(command + " does not end:\n" + Files.readString(log));
      }
      if (running.exitValue() != 0) {
        throw new IllegalStateException(command + " failed:\n" + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      Files.delete(log);
    }
  }

  /** Empties its folder; it must not be running. */
  protected void emptyFolder() {
    try (Stream<Path> files = Files.list(folder)) {
      files.forEach(ServerProcess::deleteTree);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Copies a folder into another one, over what is there. */
  protected static void copyTree(Path from, Path to) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(from)) {
      files = walk.toList();
    }
    for (Path file : files) {
      Files.copy(
          file,
          to.resolve(from.relativize(file).toString()),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  /** Retries for a while: a killed process may still write and remove files there. */
  public static void deleteTree(Path folder) {
    for (int tries = 0; Files.exists(folder); tries++) {
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (UncheckedIOException e) {
        if (tries == 100) {
          throw e;
        }
      }
      if (tries == 100 || !Files.exists(folder)) {
        return;
      }
      LockSupport.parkNanos(50_000_000);
    }
  }

  private void launch() {
    File log = folder.resolve("server.log").toFile();
    try {
      Process started =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
              .start();
      process = started;
      // Its input ends with this JVM, also with one that is killed and runs no hooks.
      String ending = "read _; kill -9 " + started.pid() + "; rm -rf \"$0\"";
      lifeline = new ProcessBuilder("sh", "-c", ending, folder + "").start();
      long start = System.nanoTime();
      while (!answers()) {
        if (!started.isAlive() || System.nanoTime() - start > START_SECONDS * 1_000_000_000L) {
          String said = Files.readString(log.toPath());
          throw new IllegalStateException(name + " did not start: " + command + "\n" + said);
        }
        Thread.sleep(10);
      }
    } catch (IOException e) {
      kill();
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (RuntimeException e) {
      kill();
      throw e;
    }
  }

  /** Whether its process runs, even if it was paused. */
  public boolean isRunning() {
    Process running = process;
    return running != null && running.isAlive();
  }

  private boolean answers() {
    try {
      return readinessProbe.isReady();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Has {@link #close()} and the end of the JVM send this signal first: some servers have to
   * release resources that outlive a process.
   */
  protected void stoppedBy(String signal) {
    stopSignal = signal;
  }

  /** Sends a signal and waits until it has ended; kills it if it does not. */
  protected void stop(String signal) {
    Process running = process;
    if (running != null && running.isAlive()) {
      signal("-CONT");
      try {
        new ProcessBuilder("kill", signal, Long.toString(running.pid())).start().waitFor();
        running.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    kill();
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void kill() {
    Process running = process;
    Process watching = lifeline;
    if (watching != null) {
      watching.destroyForcibly();
    }
    if (running != null) {
      List<ProcessHandle> children = running.descendants().toList();
      running.destroyForcibly();
      children.forEach(ProcessHandle::destroyForcibly);
      try {
        running.waitFor(10, TimeUnit.SECONDS);
        // Some processes keep memory or files of the server in use until they have ended.
        CompletableFuture.allOf(
                children.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
            .get(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        throw new IllegalStateException("Children of " + name + " do not end.", e);
      }
    }
  }

  @Override
  public void restart() {
    kill();
    launch();
  }

  @Override
  public void pause() {
    List<String> processes = signal("-STOP");
    // A thread receives the signal when it runs next; until then it may answer.
    for (int i = 0; i < MOST_LOOKS && !processes.stream().allMatch(ServerProcess::isStopped); i++) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Whether all threads of a process are stopped; true without /proc. */
  private static boolean isStopped(String process) {
    try (Stream<Path> threads = Files.list(Path.of("/proc", process, "task"))) {
      return threads.allMatch(
          thread -> {
            try {
              String stat = Files.readString(thread.resolve("stat"));
              return "TtZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0;
            } catch (IOException e) {
              return true;
            }
          });
    } catch (IOException e) {
      return true;
    }
  }

  @Override
  public void resume() {
    signal("-CONT");
  }

  /** Sends a signal; returns the processes that got it. */
  private List<String> signal(String signal) {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("The server does not run.");
    }
    List<String> processes = new ArrayList<>(List.of(Long.toString(running.pid())));
    running.descendants().forEach(child -> processes.add(Long.toString(child.pid())));
    List<String> kill = new ArrayList<>(List.of("kill", signal));
    kill.addAll(processes);
    try {
      new ProcessBuilder(kill).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return processes;
  }

  private void end() {
    String gentle = stopSignal;
    if (gentle == null) {
      kill();
    } else {
      stop(gentle);
    }
    deleteTree(folder);
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    end();
  }
}
