package io.mortise.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An H2 server in a process of its own, on a free port of the loopback. Needs {@code
 * com.h2database:h2} on the class path. Its folder and its process are gone after {@link #close()},
 * and at the latest when the JVM ends. For one thread.
 */
public final class H2Server extends LocalServer {
  private static final String MAIN = "org.h2.tools.Server";

  private H2Server(ServerProcess process, int port) {
    super(process, port);
  }

  /** Whether H2 is on the class path. */
  public static boolean isThere() {
    return H2Server.class.getClassLoader().getResource(MAIN.replace('.', '/') + ".class") != null;
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @throws IllegalStateException if it does not come up; the message has what it said
   */
  public static H2Server start() {
    try {
      Path folder = Files.createTempDirectory("mortise-h2");
      int port = ServerProcess.freePort();
      List<String> command = new ArrayList<>(ServerProcess.java("-Xmx128m"));
      command.addAll(List.of(MAIN, "-tcp", "-tcpPort", Integer.toString(port)));
      command.addAll(List.of("-ifNotExists", "-baseDir", folder.toString()));
      return new H2Server(
          ServerProcess.start("h2", folder, command, () -> isListening(port)), port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isListening(int port) throws IOException {
    ServerProcess.connect(port).close();
    return true;
  }

  /** {@code jdbc:h2:tcp:}, with every commit written before it is answered. */
  @Override
  public String url() {
    return "jdbc:h2:tcp://127.0.0.1:" + port + "/./locks;WRITE_DELAY=0";
  }
}
