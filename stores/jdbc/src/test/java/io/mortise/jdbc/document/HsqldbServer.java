package io.mortise.jdbc.document;

import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** HSQLDB's server, with one database that forces each commit to its file, and locks rows. */
final class HsqldbServer extends ServerProcess {
  private HsqldbServer(int port, Path folder, List<String> command) {
    super("hsqldb", port, folder, command, () -> DocumentServers.answers(port, url(port)));
  }

  static HsqldbServer start() {
    try {
      int port = freePort();
      Path folder = Files.createTempDirectory("mortise-hsqldb");
      List<String> command = new ArrayList<>(JvmProcess.command("-Xmx128m"));
      command.addAll(
          List.of(
              "org.hsqldb.server.Server",
              "--address",
              "127.0.0.1",
              "--port",
              Integer.toString(port),
              "--database.0",
              "file:" + folder.resolve("data/locks") + ";hsqldb.tx=mvcc;hsqldb.write_delay=false",
              "--dbname.0",
              "locks",
              "--silent",
              "true"));
      return new HsqldbServer(port, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String url(int port) {
    return "jdbc:hsqldb:hsql://127.0.0.1:" + port + "/locks";
  }

  @Override
  public String url() {
    return url(port());
  }
}
