package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * A Consul server in its own process, on free ports of the loopback: the program {@code consul} of
 * the PATH. It is alone, or a member of a {@link ConsulCluster}. Its folder and process are removed
 * by {@link #close()}, and when the JVM ends. For one thread.
 */
public final class ConsulServer extends ServerProcess {
  private final int tlsPort;

  private ConsulServer(int port, int tlsPort, Path folder, List<String> command) {
    super("consul", port, folder, command, () -> isReady(port));
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
   * @throws IllegalStateException if it does not come up; the message has its output
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
  private record ServerPorts(int server, int serf, List<Integer> all) {
    static ServerPorts alone() {
      int serf = ServerProcess.freePort();
      return new ServerPorts(ServerProcess.freePort(), serf, List.of(serf));
    }
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
      return new ConsulServer(port, tlsPort, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With a leader that a majority follows; also where a token is wanted. */
  private static boolean isReady(int port) throws IOException {
    return !ServerProcess.askHttp(port, "GET", "/v1/status/leader", "").endsWith("\"\"")
        && !ServerProcess.askHttp(port, "GET", "/v1/kv/none?consistent", "")
            .startsWith("HTTP/1.0 500");
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
      return ServerProcess.askHttp(port, method, path, body);
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

  /**
   * Three Consul servers that make a datacenter, each in its own process, as {@link ConsulServer}
   * has it. A member elects another leader a second or two without contact to the present one. For
   * one thread.
   */
  public static final class ConsulCluster extends LocalCluster<ConsulServer> {
    /** The ports by which members know each other. */
    private final List<Integer> serverPorts;

    private ConsulCluster(List<ConsulServer> members, List<Integer> serverPorts) {
      super(members);
      this.serverPorts = serverPorts;
    }

    /**
     * Starts the cluster, and waits until it serves.
     *
     * @param program see {@link ConsulServer#installed()}
     * @throws IllegalStateException if it does not come up
     */
    public static ConsulCluster start(Path program) {
      List<Integer> serverPorts = ports();
      List<Integer> serfPorts = ports();
      List<Supplier<ConsulServer>> starts = new ArrayList<>();
      for (int i = 0; i < MEMBERS; i++) {
        ServerPorts own = new ServerPorts(serverPorts.get(i), serfPorts.get(i), serfPorts);
        starts.add(() -> ConsulServer.start(program, own, 0, List.of()));
      }
      return new ConsulCluster(startAll(starts), serverPorts);
    }

    private static List<Integer> ports() {
      return IntStream.range(0, MEMBERS).mapToObj(i -> ServerProcess.freePort()).toList();
    }

    @Override
    protected int leaderBy(int asked) {
      String answer = member(asked).send("GET", "/v1/status/leader", "");
      return IntStream.range(0, size())
          .filter(i -> answer.endsWith(":" + serverPorts.get(i) + "\""))
          .findFirst()
          .orElse(-1);
    }
  }
}
