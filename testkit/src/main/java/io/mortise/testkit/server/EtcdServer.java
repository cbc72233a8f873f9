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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An etcd server in a process of its own, on free ports of the loopback: the program {@code etcd}
 * of the PATH. It is alone, or a member of an {@link EtcdCluster}. Its folder and its process are
 * gone after {@link #close()}, and at the latest when the JVM ends. For one thread.
 */
public final class EtcdServer extends LocalServer {
  private final int tlsPort;

  private EtcdServer(ServerProcess process, int port, int tlsPort) {
    super(process, port);
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
   * @throws IllegalStateException if it does not come up; the message has what it said
   */
  public static EtcdServer start(Path program, String... arguments) {
    return start(program, alone(), 0, List.of(arguments));
  }

  /** The URL by which other members reach one, and how the cluster is told of all of them. */
  record ClusterMember(String name, String peerUrl, String cluster) {}

  /** Starts a member of a cluster, and waits until the cluster serves. */
  static EtcdServer start(Path program, ClusterMember member, List<String> arguments) {
    return start(program, member, 0, arguments);
  }

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
      return new EtcdServer(
          ServerProcess.start("etcd", folder, command, () -> isHealthy(port)), port, tlsPort);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isHealthy(int port) throws IOException {
    return ask(port, "GET", "/health", "").contains("\"health\":\"true\"");
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
   * Sends a request to the JSON gateway.
   *
   * @param path as {@code /v3/kv/range}
   * @param body JSON
   * @return the answer, with its head
   */
  public String post(String path, String body) {
    try {
      return ask(port, "POST", path, body);
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
   * Three etcd servers that make a cluster, each a process of its own, as {@link EtcdServer} has
   * it. A member elects another leader about a second after it has heard nothing of the present
   * one. For one thread.
   */
  public static final class EtcdCluster implements AutoCloseable {
    private static final int MEMBERS = 3;
    private static final Duration ELECTION = Duration.ofSeconds(60);
    private static final Pattern ME = Pattern.compile("\"member_id\":\"(\\d+)\"");
    private static final Pattern LEADER = Pattern.compile("\"leader\":\"(\\d+)\"");

    private final List<EtcdServer> members;

    /** By what etcd calls them. */
    private final List<String> ids;

    private EtcdCluster(List<EtcdServer> members, List<String> ids) {
      this.members = members;
      this.ids = ids;
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
      // None of them serves before most are there.
      List<CompletableFuture<EtcdServer>> starting = new ArrayList<>();
      for (int i = 0; i < MEMBERS; i++) {
        EtcdServer.ClusterMember member =
            new EtcdServer.ClusterMember("member" + i, peers.get(i), cluster);
        starting.add(
            CompletableFuture.supplyAsync(
                () -> EtcdServer.start(program, member, List.of(arguments)),
                task -> new Thread(task, "mortise-" + member.name()).start()));
      }
      List<EtcdServer> members = new ArrayList<>();
      CompletionException failure = null;
      for (CompletableFuture<EtcdServer> start : starting) {
        try {
          members.add(start.join());
        } catch (CompletionException e) {
          failure = e;
        }
      }
      if (failure != null) {
        members.forEach(EtcdServer::close);
        throw new IllegalStateException("A member of the cluster did not start.", failure);
      }
      return new EtcdCluster(members, members.stream().map(member -> id(member, ME)).toList());
    }

    /** How many members there are; they are numbered from 0. */
    public int size() {
      return members.size();
    }

    /** One member, to be killed, restarted, paused. */
    public EtcdServer member(int number) {
      return members.get(number);
    }

    /** {@code etcd://} and the addresses of all members, this one first. */
    public String url(int first) {
      return IntStream.range(0, size())
          .mapToObj(i -> "127.0.0.1:" + member((first + i) % size()).port())
          .collect(Collectors.joining(",", "etcd://", ""));
    }

    /** The member that leads. Waits until the given one, which must answer, knows one. */
    public int leader(int asked) {
      int[] found = {-1};
      BoundedWait.until(
          ELECTION,
          "a member led",
          () -> {
            found[0] = leaderBy(asked);
            return found[0] >= 0;
          });
      return found[0];
    }

    /** Waits until the given member, which must answer, knows another leader than that one. */
    public int leaderAfter(int former, int asked) {
      int[] found = {-1};
      BoundedWait.until(
          ELECTION,
          "another member led",
          () -> {
            found[0] = leaderBy(asked);
            return found[0] >= 0 && found[0] != former;
          });
      return found[0];
    }

    /** The leader that a member knows; less than 0 if it knows none. */
    private int leaderBy(int asked) {
      return ids.indexOf(id(member(asked), LEADER));
    }

    private static String id(EtcdServer member, Pattern which) {
      Matcher found = which.matcher(member.post("/v3/maintenance/status", "{}"));
      return found.find() ? found.group(1) : "";
    }

    @Override
    public void close() {
      members.forEach(EtcdServer::close);
    }
  }
}
