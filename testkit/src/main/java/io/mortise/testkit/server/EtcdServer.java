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
}
