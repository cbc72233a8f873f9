package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A connection pooler in front of a PostgreSQL server, in transaction mode. The programs are not
 * part of this project: {@link #installed()}.
 */
public final class PgBouncer extends ServerProcess {
  private static final String PROGRAM = "pgbouncer";

  private PgBouncer(int port, Path folder, List<String> command) {
    super(
        "PgBouncer",
        port,
        folder,
        command,
        () -> {
          ServerProcess.connect(port).close();
          return true;
        });
  }

  /** The program on the PATH, if it is there. */
  public static Optional<Path> installed() {
    return ServerProcess.find(PROGRAM);
  }

  /**
   * Starts one and waits until it answers.
   *
   * @param connections the number of server connections shared by all clients
   * @throws IllegalStateException if it is not installed or does not come up
   */
  public static PgBouncer start(PostgresServer server, int connections) {
    Path program =
        installed().orElseThrow(() -> new IllegalStateException("There is no " + PROGRAM + "."));
    try {
      Path folder = PostgresServer.folder("mortise-pgbouncer");
      int port = ServerProcess.freePort();
      Path settings = folder.resolve("pgbouncer.ini");
      Files.writeString(
          settings,
          String.join(
              "\n",
              "[databases]",
              "postgres = host=127.0.0.1 port="
                  + server.port()
                  + " user="
                  + PostgresServer.USER
                  + " password="
                  + PostgresServer.PASSWORD,
              "[pgbouncer]",
              "listen_addr = 127.0.0.1",
              "listen_port = " + port,
              "unix_socket_dir =",
              "auth_type = any",
              "pool_mode = transaction",
              "default_pool_size = " + connections,
              ""));
      List<String> command = new ArrayList<>(PostgresServer.asUser());
      command.addAll(List.of(program.toString(), settings.toString()));
      return new PgBouncer(port, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@link PostgresServer#url()}, through the pooler. */
  @Override
  public String url() {
    return "jdbc:postgresql://127.0.0.1:"
        + port
        + "/postgres?user="
        + PostgresServer.USER
        + "&password="
        + PostgresServer.PASSWORD;
  }
}
