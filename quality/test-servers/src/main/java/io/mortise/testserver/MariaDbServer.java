package io.mortise.testserver;

import io.mortise.testkit.server.LossyDisk;
import io.mortise.testkit.server.ServerProcess;
import io.mortise.testserver.MySqlServer.MySqlServerSupport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A MariaDB server in its own process, on a free port of the loopback. Every commit is on the disk
 * before it is answered. Has the databases and users of {@link MySqlServer}. Its folder and process
 * are removed by {@link #close()}, and when the JVM ends. For one thread.
 */
public final class MariaDbServer extends ServerProcess {

  private MariaDbServer(int port, Path folder, List<String> command) {
    super("mariadb", port, folder, command, () -> MySqlServerSupport.greets(port));
  }

  /**
   * The {@code mariadbd} of the distribution, if installed with {@code mariadb-install-db} (Debian:
   * {@code mariadb-server}). Not an artifact: the only one has 149 MB.
   */
  public static Optional<Path> installed() {
    return ServerProcess.find("mariadb-install-db").isPresent()
        ? ServerProcess.find("mariadbd")
        : Optional.empty();
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param program see {@link #installed()}
   * @param arguments as on the command line of {@code mariadbd}
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static MariaDbServer start(Path program, String... arguments) {
    return start(program, MySqlServerSupport.folder("mariadb"), List.of(), arguments);
  }

  /**
   * The same, with a clock that the test sets.
   *
   * @param clock closed after the server
   */
  public static MariaDbServer start(Path program, FakeClock clock, String... arguments) {
    return start(program, MySqlServerSupport.folder("mariadb"), clock.prefix(), arguments);
  }

  /**
   * The same, with its data on a disk that can lose unforced writes.
   *
   * @param disk closed after the server
   */
  public static MariaDbServer start(Path program, LossyDisk disk, String... arguments) {
    try {
      return start(program, disk.folder("mariadb"), List.of(), arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static MariaDbServer start(
      Path program, Path folder, List<String> prefix, String... arguments) {
    try {
      Path data = ServerProcess.once("mariadb-data", MariaDbServer::makeData);
      int port = ServerProcess.freePort();
      List<String> command = new ArrayList<>(prefix);
      command.addAll(List.of(program.toString(), "--no-defaults", "--innodb-log-file-size=16M"));
      return new MariaDbServer(
          port, folder, MySqlServerSupport.prepare(folder, data, port, command, arguments));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void makeData(Path folder) throws IOException {
    List<String> make = new ArrayList<>();
    make.add(ServerProcess.find("mariadb-install-db").orElseThrow().toString());
    make.addAll(
        List.of(
            "--no-defaults",
            "--datadir=" + folder,
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--innodb-log-file-size=16M"));
    make.addAll(MySqlServerSupport.user());
    ServerProcess.run(folder, make);
  }

  /** {@code jdbc:mariadb:} with a user that may use one database. */
  @Override
  public String url() {
    return MySqlServerSupport.url("mariadb", port, "mortise");
  }

  /** The same with a user that has all rights. */
  public String adminUrl() {
    return MySqlServerSupport.url("mariadb", port, "admin");
  }
}
