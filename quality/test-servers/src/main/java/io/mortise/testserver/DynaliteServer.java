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
 * Dynalite, an emulator of DynamoDB, in its own process, on free ports of the loopback. It keeps
 * its data in a folder. Its folder and process are removed by {@link #close()}, and when the JVM
 * ends. For one thread.
 */
public final class DynaliteServer extends ServerProcess {
  private static final String TABLE = "locks";

  private final int tlsPort;

  private DynaliteServer(int port, int tlsPort, Path folder, List<String> command) {
    super("dynalite", port, folder, command, () -> isReady(port));
    this.tlsPort = tlsPort;
  }

  /**
   * Installs it from its package, once per build; empty if there is no {@code npm}, or it cannot
   * install the package, as without its registry or with a Node older than 20. Why is printed then.
   *
   * @param packages a folder with {@code package.json}, {@code package-lock.json} and {@code
   *     serve.js}
   * @return {@code serve.js}
   */
  public static Optional<Path> install(Path packages) {
    Optional<Path> npm = ServerProcess.find("npm");
    if (npm.isEmpty() || ServerProcess.find("node").isEmpty()) {
      return Optional.empty();
    }
    List<String> command = new ArrayList<>(List.of(npm.get() + "", "ci"));
    command.addAll(List.of("--engine-strict", "--ignore-scripts", "--no-audit", "--no-fund"));
    try {
      return Optional.of(
          ServerProcess.once(
                  "dynalite",
                  folder -> {
                    ServerProcess.copyTree(packages, folder);
                    ServerProcess.run(folder, command);
                  })
              .resolve("serve.js"));
    } catch (IllegalStateException e) {
      System.err.println(e.getMessage());
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Starts a server, and waits until it serves.
   *
   * @param program see {@link #install}
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static DynaliteServer start(Path program) {
    return start(program, 0, List.of());
  }

  /**
   * The same, with a further port on which it speaks TLS.
   *
   * @param certificate in PEM form
   * @param key that belongs to it
   */
  public static DynaliteServer startWithTls(Path program, Path certificate, Path key) {
    int tlsPort = ServerProcess.freePort();
    return start(
        program,
        tlsPort,
        List.of("--tls-port", tlsPort + "", "--cert", certificate + "", "--key", key + ""));
  }

  private static DynaliteServer start(Path program, int tlsPort, List<String> arguments) {
    int port = ServerProcess.freePort();
    try {
      Path folder = Files.createTempDirectory("mortise-dynalite");
      List<String> command = new ArrayList<>();
      command.addAll(List.of("node", program + "", "--port", port + ""));
      command.addAll(List.of("--path", folder.resolve("data") + ""));
      command.addAll(arguments);
      return new DynaliteServer(port, tlsPort, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isReady(int port) throws IOException {
    return ServerProcess.askHttp(port, "GET", "/", "").contains("200 OK");
  }

  /** The port for TLS; 0 if there is none. */
  public int tlsPort() {
    return tlsPort;
  }

  /**
   * {@code dynamodb://127.0.0.1:port/locks}. A store that is opened with {@code create=true} makes
   * the table.
   */
  @Override
  public String url() {
    return "dynamodb://127.0.0.1:" + port + "/" + TABLE;
  }
}
