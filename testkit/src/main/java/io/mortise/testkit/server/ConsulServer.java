package io.mortise.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A Consul server in a process of its own, on free ports of the loopback: the program {@code
 * consul} of the PATH. It is alone, or a member of a {@link ConsulCluster}. Its folder and its
 * process are gone after {@link #close()}, and at the latest when the JVM ends. For one thread.
 */
public final class ConsulServer extends LocalServer {
  private final int tlsPort;

  private ConsulServer(ServerProcess process, int port, int tlsPort) {
    super(process, port);
    this.tlsPort = tlsPort;
  }

  /** The program on the PATH; empty if there is none. */
  public static Optional<Path> installed() {
    return ServerProcess.find("consul");
  }

  /**
   * Starts a server, and waits until it serves.
   *
   * @param program see {@link #installed()}
   * @param arguments more of them, in the program's own form
   * @throws IllegalStateException if it does not come up; the message has what it said
   */
  public static ConsulServer start(Path program, String... arguments) {
    return start(program, ServerPorts.alone(), 0, List.of(arguments));
  }

  /**
   * The same, with a further port on which it speaks TLS.
   *
   * @param certificate in PEM form
   * @param key that belongs to it
   */
  public static ConsulServer startWithTls(Path program, Path certificate, Path key) {
    int tlsPort = ServerProcess.freePort();
    String files = "cert_file=\"%s\" key_file=\"%s\"".formatted(certificate, key);
    return start(
        program,
        ServerPorts.alone(),
        tlsPort,
        List.of("-hcl", files, "-hcl", "ports={https=" + tlsPort + "}"));
  }

  /**
   * Where a server talks with the others.
   *
   * @param server for their requests
   * @param serf for their gossip
   * @param all the gossip ports of all of them
   */
  record ServerPorts(int server, int serf, List<Integer> all) {
    static ServerPorts alone() {
      int serf = ServerProcess.freePort();
      return new ServerPorts(ServerProcess.freePort(), serf, List.of(serf));
    }
  }

  /** Starts a member of a cluster, and waits until the cluster serves. */
  static ConsulServer start(Path program, ServerPorts ports, List<String> arguments) {
    return start(program, ports, 0, arguments);
  }

  private static ConsulServer start(
      Path program, ServerPorts ports, int tlsPort, List<String> arguments) {
    int port = ServerProcess.freePort();
    try {
      Path folder = Files.createTempDirectory("mortise-consul");
      List<String> command = new ArrayList<>();
      command.addAll(List.of(program.toString(), "agent", "-server", "-log-level=warn"));
      command.addAll(List.of("-node", "node" + port, "-data-dir", folder.resolve("data") + ""));
      command.addAll(List.of("-bind", "127.0.0.1", "-client", "127.0.0.1"));
      command.addAll(List.of("-http-port", port + "", "-server-port", ports.server() + ""));
      command.addAll(List.of("-serf-lan-port", ports.serf() + "", "-serf-wan-port", "-1"));
      command.addAll(List.of("-dns-port", "-1", "-bootstrap-expect", ports.all().size() + ""));
      for (int other : ports.all()) {
        if (other != ports.serf()) {
          command.addAll(List.of("-retry-join", "127.0.0.1:" + other));
        }
      }
      command.addAll(List.of("-retry-interval", "1s"));
      command.addAll(List.of("-hcl", "disable_update_check=true performance={raft_multiplier=1}"));
      command.addAll(arguments);
      return new ConsulServer(
          ServerProcess.start("consul", folder, command, () -> isReady(port)), port, tlsPort);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With a leader that a majority follows; also where a token is wanted. */
  private static boolean isReady(int port) throws IOException {
    return !ask(port, "GET", "/v1/status/leader", "").endsWith("\"\"")
        && !ask(port, "GET", "/v1/kv/none?consistent", "").startsWith("HTTP/1.0 500");
  }

  private static String ask(int port, String method, String path, String body) throws IOException {
    String request =
        "%s %s HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
            .formatted(method, path, body.getBytes(StandardCharsets.UTF_8).length, body);
    try (Socket socket = ServerProcess.connect(port)) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * Sends a request to the HTTP API.
   *
   * @param method as {@code PUT}
   * @param path as {@code /v1/kv/key}
   * @return the answer, with its head
   */
  public String send(String method, String path, String body) {
    try {
      return ask(port, method, path, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port for TLS; 0 if there is none. */
  public int tlsPort() {
    return tlsPort;
  }

  /** {@code consul://127.0.0.1:port}. */
  @Override
  public String url() {
    return "consul://127.0.0.1:" + port;
  }
}
