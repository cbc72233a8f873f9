package io.mortise.testserver;

import io.mortise.testkit.server.JvmProcess;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * An H2 server in its own process, on a free port of the loopback. Needs {@code com.h2database:h2}
 * on the class path. Its folder and process are removed by {@link #close()}, and when the JVM ends.
 * For one thread.
 */
public final class H2Server extends ServerProcess {
  private static final String MAIN = "org.h2.tools.Server";

  private H2Server(int port, Path folder, List<String> command) {
    super("h2", port, folder, command, () -> answers(port));
  }

  /** Whether H2 is on the class path. */
  public static boolean isThere() {
    return H2Server.class.getClassLoader().getResource(MAIN.replace('.', '/') + ".class") != null;
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static H2Server start() {
    try {
      Path folder = Files.createTempDirectory("mortise-h2");
      int port = ServerProcess.freePort();
      List<String> command = new ArrayList<>(JvmProcess.command("-Xmx128m"));
      command.addAll(List.of(MAIN, "-tcp", "-tcpPort", Integer.toString(port)));
      command.addAll(List.of("-ifNotExists", "-baseDir", folder.toString()));
      return new H2Server(port, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Whether the database is open. A cold JVM takes long to open it, and longer after a crash if the
   * file is large: on a busy machine longer than a client's timeout.
   */
  private static boolean answers(int port) throws IOException {
    ServerProcess.connect(port).close();
    try {
      // It stays open: a client need not open it again.
      String own = ";NETWORK_TIMEOUT=30000;DB_CLOSE_DELAY=-1";
      DriverManager.getConnection(url(port) + own).close();
      return true;
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  private static String url(int port) {
    return "jdbc:h2:tcp://127.0.0.1:" + port + "/./locks;WRITE_DELAY=0";
  }

  /** {@code jdbc:h2:tcp:}, with every commit written before it is answered. */
  @Override
  public String url() {
    return url(port);
  }
}
