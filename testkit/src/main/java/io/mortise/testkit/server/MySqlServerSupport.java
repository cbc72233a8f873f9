package io.mortise.testkit.server;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What a MySQL and a MariaDB server have in common. */
final class MySqlServerSupport {
  /** The protocol version with which both greet who connects. */
  private static final int GREETING = 10;

  /**
   * An application's user, with all rights in its database and none outside; and one who may do
   * everything.
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
   * Starts a server on a copy of a data folder.
   *
   * @param folder its own from now on
   * @param program the server and what it needs to be told in its own way
   */
  static ServerProcess start(
      String name, Path folder, Path data, int port, List<String> program, String... arguments) {
    try {
      ServerProcess.copyTree(data, folder.resolve("data"));
      // Or a replica would take its source for itself.
      Files.deleteIfExists(folder.resolve("data").resolve("auto.cnf"));
      Path temporary = Files.createDirectory(folder.resolve("tmp"));
      Path init = folder.resolve("init.sql");
      // One statement per line is what both read.
      Files.writeString(init, INIT);
      List<String> command = new ArrayList<>(program);
      command.addAll(
          List.of(
              "--datadir=" + folder.resolve("data"),
              // A server that starts removes from there what others are just using, which may crash
              // them.
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
      return ServerProcess.start(name, folder, command, () -> greets(port));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A folder of its own for a server. */
  static Path folder(String name) {
    try {
      return Files.createTempDirectory("mortise-" + name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Both refuse to run as root unless they are told. */
  static List<String> user() {
    return ServerProcess.isRoot() ? List.of("--user=root") : List.of();
  }

  static String url(String scheme, int port, String user) {
    return "jdbc:" + scheme + "://127.0.0.1:" + port + "/mortise?user=" + user + "&password=secret";
  }

  private static boolean greets(int port) throws IOException {
    try (Socket socket = ServerProcess.connect(port);
        DataInputStream in = new DataInputStream(socket.getInputStream())) {
      in.skipNBytes(4);
      return in.read() == GREETING;
    }
  }
}
