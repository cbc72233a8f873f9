package io.mortise.testkit.server;

import io.mortise.testkit.BoundedWait;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

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

  /**
   * Three Consul servers that make a datacenter, each a process of its own, as {@link ConsulServer}
   * has it. A member elects another leader a second or two after it has heard nothing of the
   * present one. For one thread.
   */
  public static final class ConsulCluster implements AutoCloseable {
    private static final int MEMBERS = 3;
    private static final Duration ELECTION = Duration.ofSeconds(60);

    private final List<ConsulServer> members;

    /** The ports by which members know each other. */
    private final List<Integer> serverPorts;

    private ConsulCluster(List<ConsulServer> members, List<Integer> serverPorts) {
      this.members = members;
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
      // None of them serves before most are there.
      List<CompletableFuture<ConsulServer>> starting = new ArrayList<>();
      for (int i = 0; i < MEMBERS; i++) {
        ServerPorts own = new ServerPorts(serverPorts.get(i), serfPorts.get(i), serfPorts);
        starting.add(
            CompletableFuture.supplyAsync(
                () -> ConsulServer.start(program, own, List.of()),
                task -> new Thread(task, "mortise-consul-" + own.serf()).start()));
      }
      List<ConsulServer> members = new ArrayList<>();
      CompletionException failure = null;
      for (CompletableFuture<ConsulServer> start : starting) {
        try {
          members.add(start.join());
        } catch (CompletionException e) {
          failure = e;
        }
      }
      if (failure != null) {
        members.forEach(ConsulServer::close);
        throw new IllegalStateException("A member of the cluster did not start.", failure);
      }
      return new ConsulCluster(members, serverPorts);
    }

    private static List<Integer> ports() {
      return IntStream.range(0, MEMBERS).mapToObj(i -> ServerProcess.freePort()).toList();
    }

    /** How many members there are; they are numbered from 0. */
    public int size() {
      return members.size();
    }

    /** One member, to be killed, restarted, paused. */
    public ConsulServer member(int number) {
      return members.get(number);
    }

    /** {@code consul://} and the addresses of all members, this one first. */
    public String url(int first) {
      return IntStream.range(0, size())
          .mapToObj(i -> "127.0.0.1:" + member((first + i) % size()).port())
          .collect(Collectors.joining(",", "consul://", ""));
    }

    /** The member that leads. Waits until the given one, which must answer, knows one. */
    public int leader(int asked) {
      return awaitLeader(asked, -1);
    }

    /** Waits until the given member, which must answer, knows another leader than that one. */
    public int leaderAfter(int former, int asked) {
      return awaitLeader(asked, former);
    }

    private int awaitLeader(int asked, int former) {
      int[] found = {-1};
      BoundedWait.until(
          ELECTION,
          "a member led",
          () -> {
            found[0] = leaderBy(asked);
            return found[0] >= 0 && found[0] != former;
          });
      return found[0];
    }

    /** The leader that a member knows; less than 0 if it knows none. */
    private int leaderBy(int asked) {
      String answer = member(asked).send("GET", "/v1/status/leader", "");
      return IntStream.range(0, size())
          .filter(i -> answer.endsWith(":" + serverPorts.get(i) + "\""))
          .findFirst()
          .orElse(-1);
    }

    @Override
    public void close() {
      members.forEach(ConsulServer::close);
    }
  }
}
