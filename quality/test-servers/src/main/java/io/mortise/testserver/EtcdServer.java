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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An etcd server in its own process, on free ports of the loopback: the program {@code etcd} of the
 * PATH. It is alone, or a member of an {@link EtcdCluster}. Its folder and process are removed by
 * {@link #close()}, and when the JVM ends. For one thread.
 */
public final class EtcdServer extends ServerProcess {
  private final int tlsPort;

  private EtcdServer(int port, int tlsPort, Path folder, List<String> command) {
    super("etcd", port, folder, command, () -> isHealthy(port));
    this.tlsPort = tlsPort;
  }

  /** The program on the PATH; empty if there is none. */
  public static Optional<Path> installed() {
    return ServerProcess.find("etcd");
  }

  /**
   * Starts a server, and waits until it serves.
   *
   * @param program see {@link #installed()}
   * @param arguments more of them, in the program's own form
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static EtcdServer start(Path program, String... arguments) {
    return start(program, alone(), 0, List.of(arguments));
  }

  /** A member's URL for its peers, and the list of all members. */
  private record ClusterMember(String name, String peerUrl, String cluster) {}

  private static ClusterMember alone() {
    String peers = "http://127.0.0.1:" + ServerProcess.freePort();
    return new ClusterMember("default", peers, "default=" + peers);
  }

  /**
   * The same, with a further port on which it speaks TLS.
   *
   * @param certificate in PEM form
   * @param key that belongs to it
   */
  public static EtcdServer startWithTls(Path program, Path certificate, Path key) {
    int tlsPort = ServerProcess.freePort();
    return start(
        program,
        alone(),
        tlsPort,
        List.of("--cert-file", certificate.toString(), "--key-file", key.toString()));
  }

  private static EtcdServer start(
      Path program, ClusterMember member, int tlsPort, List<String> arguments) {
    int port = ServerProcess.freePort();
    String clients = "http://127.0.0.1:" + port;
    String listening = tlsPort == 0 ? clients : clients + ",https://127.0.0.1:" + tlsPort;
    try {
      Path folder = Files.createTempDirectory("mortise-etcd");
      List<String> command = new ArrayList<>();
      command.add(program.toString());
      command.addAll(List.of("--data-dir", folder.resolve("data").toString()));
      command.addAll(List.of("--listen-client-urls", listening));
      command.addAll(List.of("--advertise-client-urls", clients));
      command.addAll(List.of("--name", member.name()));
      command.addAll(List.of("--listen-peer-urls", member.peerUrl()));
      command.addAll(List.of("--initial-advertise-peer-urls", member.peerUrl()));
      command.addAll(List.of("--initial-cluster", member.cluster()));
      command.addAll(arguments);
      return new EtcdServer(port, tlsPort, folder, command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isHealthy(int port) throws IOException {
    return ServerProcess.askHttp(port, "GET", "/health", "").contains("\"health\":\"true\"");
  }

  /**
   * Sends a request to the JSON gateway.
   *
   * @param path as {@code /v3/kv/range}
   * @param body JSON
   * @return the answer, with its head
   */
  public String post(String path, String body) {
    try {
      return ServerProcess.askHttp(port, "POST", path, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port for TLS; 0 if there is none. */
  public int tlsPort() {
    return tlsPort;
  }

  /** {@code etcd://127.0.0.1:port}. */
  @Override
  public String url() {
    return "etcd://127.0.0.1:" + port;
  }

  /**
   * Three etcd servers that make a cluster, each in its own process, as {@link EtcdServer} has it.
   * A member elects another leader about a second without contact to the present one. For one
   * thread.
   */
  public static final class EtcdCluster extends LocalCluster<EtcdServer> {
    private static final Pattern ME = Pattern.compile("\"member_id\":\"(\\d+)\"");
    private static final Pattern LEADER = Pattern.compile("\"leader\":\"(\\d+)\"");

    /** The ids of the members in etcd. */
    private final List<String> ids;

    private EtcdCluster(List<EtcdServer> members) {
      super(members);
      this.ids = members.stream().map(member -> id(member, ME)).toList();
    }

    /**
     * Starts the cluster, and waits until it serves.
     *
     * @param program see {@link EtcdServer#installed()}
     * @param arguments more of them for each member, in the program's own form
     * @throws IllegalStateException if it does not come up
     */
    public static EtcdCluster start(Path program, String... arguments) {
      List<String> peers =
          IntStream.range(0, MEMBERS)
              .mapToObj(i -> "http://127.0.0.1:" + ServerProcess.freePort())
              .toList();
      String cluster =
          IntStream.range(0, MEMBERS)
              .mapToObj(i -> "member" + i + "=" + peers.get(i))
              .collect(Collectors.joining(","));
      List<Supplier<EtcdServer>> starts = new ArrayList<>();
      for (int i = 0; i < MEMBERS; i++) {
        ClusterMember member = new ClusterMember("member" + i, peers.get(i), cluster);
        starts.add(() -> EtcdServer.start(program, member, 0, List.of(arguments)));
      }
      return new EtcdCluster(startAll(starts));
    }

    @Override
    protected int leaderBy(int asked) {
      return ids.indexOf(id(member(asked), LEADER));
    }

    private static String id(EtcdServer member, Pattern which) {
      Matcher found = which.matcher(member.post("/v3/maintenance/status", "{}"));
      return found.find() ? found.group(1) : "";
    }
  }
}
