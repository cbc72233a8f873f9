package io.mortise.jdbc.document;

import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Derby's network server, with one database. */
final class DerbyServer extends ServerProcess {
  private DerbyServer(int port, Path folder, List<String> command) {
    super(
        "derby",
        port,
        folder,
        command,
        () -> DocumentServers.answers(port, url(port) + ";create=true"));
  }

  static DerbyServer start() {
    try {
      int port = freePort();
      Path folder = Files.createTempDirectory("mortise-derby");
      List<String> command =
          new ArrayList<>(
              JvmProcess.command("-Xmx128m", "-Dderby.system.home=" + folder.resolve("data")));
      command.addAll(
          List.of(
              "org.apache.derby.drda.NetworkServerControl",
              "start",
              "-h",
              "127.0.0.1",
              "-p",
              Integer.toString(port),
              "-noSecurityManager"));
      return new DerbyServer(port, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String url(int port) {
    return "jdbc:derby://127.0.0.1:" + port + "/locks";
  }

  @Override
  public String url() {
    return url(port());
  }
}
