package io.mortise.jdbc.document;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The Firebird of the distribution, with its databases and its lock files in a folder of its own.
 * As root it writes to the log of the distribution.
 */
final class FirebirdServer extends ServerProcess {
  private FirebirdServer(int port, Path folder, List<String> command) {
    super("firebird", port, folder, command, () -> DocumentServers.answers(port, url(port)));
  }

  /** Where there is none, the test is skipped, or on CI fails. */
  static FirebirdServer start() {
    Path program = TestPrerequisites.required(find("firebird"), "The program firebird");
    try {
      Path folder = Files.createTempDirectory("mortise-firebird");
      copyTree(once("firebird-data", FirebirdServer::makeData), folder);
      int port = freePort();
      // The option -p would have it listen on all addresses.
      Files.writeString(
          folder.resolve("firebird.conf"),
          """
          RemoteServicePort = %d
          RemoteBindAddress = 127.0.0.1
          SecurityDatabase = $(root)/security.fdb
          """
              .formatted(port));
      Files.writeString(folder.resolve("databases.conf"), "locks = $(root)/locks.fdb\n");
      return new FirebirdServer(port, folder, command(folder, program));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Databases of users and of locks, made without a server. */
  private static void makeData(Path folder) throws IOException {
    Path script = folder.resolve("make.sql");
    Files.writeString(folder.resolve("firebird.conf"), "SecurityDatabase = $(root)/security.fdb\n");
    Files.writeString(
        script,
        """
        CREATE DATABASE 'security.fdb';
        CREATE USER sysdba PASSWORD 'secret' USING PLUGIN Srp;
        COMMIT;
        CREATE DATABASE 'locks.fdb';
        """);
    Path program = TestPrerequisites.required(find("isql-fb"), "The program isql-fb");
    List<String> make = new ArrayList<>(command(folder, program));
    make.addAll(List.of("-bail", "-quiet", "-user", "sysdba", "-input", script.toString()));
    run(folder, make);
  }

  private static List<String> command(Path folder, Path program) {
    return List.of("env", "FIREBIRD=" + folder, "FIREBIRD_LOCK=" + folder, program.toString());
  }

  private static String url(int port) {
    return "jdbc:firebird://127.0.0.1:" + port + "/locks?user=sysdba&password=secret";
  }

  @Override
  public String url() {
    return url(port());
  }
}
