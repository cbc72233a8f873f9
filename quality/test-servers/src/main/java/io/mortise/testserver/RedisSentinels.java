package io.mortise.testserver;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Redis master with two replicas, and three Sentinels that monitor them, each in its own process
 * on the loopback. Ended by {@link #close()}. For one thread.
 */
public final class RedisSentinels implements AutoCloseable {
  private static final String NAME = "mymaster";
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final String NAMES =
      "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes";

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<SentinelProcess> sentinels = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();

  /** The ports of Sentinels for clients. */
  private final List<Integer> entries = new ArrayList<>();

  private final @Nullable RedisSecurity access;

  /** The host that Sentinels announce for servers. */
  private final String host;

  private RedisSentinels(@Nullable RedisSecurity access, String host) {
    this.access = access;
    this.host = host;
  }

  /**
   * Starts them, and waits until the Sentinels know each other and all servers.
   *
   * @param binary {@code redis-server}
   * @param downAfter the time after which a silent server counts as dead
   */
  public static RedisSentinels start(Path binary, Duration downAfter) {
    return start(binary, downAfter, null);
  }

  /** The same with TLS and passwords. */
  public static RedisSentinels start(
      Path binary, Duration downAfter, @Nullable RedisSecurity access) {
    return new RedisSentinels(access, "127.0.0.1").started(binary, downAfter);
  }

  /** The same without TLS, where Sentinels announce the name {@code localhost}. */
  public static RedisSentinels startNamed(Path binary, Duration downAfter) {
    return new RedisSentinels(null, "localhost").started(binary, downAfter);
  }

  private RedisSentinels started(Path binary, Duration downAfter) {
    try {
      startServers(binary);
      for (int i = 0; i < 3; i++) {
        startSentinel(binary, downAfter);
      }
      BoundedWait.until(PATIENCE, "the Sentinels knew of all", this::isComplete);
      return this;
    } catch (IOException e) {
      close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void startServers(Path binary) {
    servers.add(
        RedisServer.start(
            binary, access, 0, "--repl-diskless-sync-delay", "0", "--replica-announce-ip", host));
    String port = Integer.toString(servers.get(0).portOfOthers());
    for (int i = 0; i < 2; i++) {
      servers.add(
          RedisServer.start(
              binary,
              access,
              0,
              "--repl-diskless-sync-delay",
              "0",
              "--replica-announce-ip",
              host,
              "--replicaof",
              host,
              port));
    }
    BoundedWait.until(
        PATIENCE,
        "the replicas were in sync",
        () ->
            servers.stream().skip(1).allMatch(replica -> replica.says("master_link_status", "up")));
  }

  private void startSentinel(Path binary, Duration downAfter) throws IOException {
    Path folder = Files.createTempDirectory("mortise-sentinel");
    int port = RedisServer.freePort();
    int entry = access == null ? port : RedisServer.freePort();
    Path config = folder.resolve("sentinel.conf");
    Files.writeString(
        config,
        """
        port %s
        bind 127.0.0.1
        dir %s
        %s
        sentinel monitor %s %s %s 2
        sentinel down-after-milliseconds %s %s
        sentinel failover-timeout %s 4000
        sentinel parallel-syncs %s 2
        %s
        """
            .formatted(
                port,
                folder,
                host.equals("localhost") ? NAMES : "",
                NAME,
                host,
                servers.get(0).portOfOthers(),
                NAME,
                downAfter.toMillis(),
                NAME,
                NAME,
                access == null ? "" : access.ofSentinels(entry, NAME)));
    List<String> command = List.of(binary.toString(), config.toString(), "--sentinel");
    sentinels.add(new SentinelProcess(port, folder, command, password()));
    ports.add(port);
    entries.add(entry);
  }

  private static final class SentinelProcess extends ServerProcess {
    SentinelProcess(int port, Path folder, List<String> command, @Nullable String password) {
      super(
          "sentinel",
          port,
          folder,
          command,
          () -> RawRedisConnection.ask(port, password, List.of("PING")).contains("PONG"));
    }

    /** A URL of this class only, which no store accepts. */
    @Override
    public String url() {
      return "sentinel://127.0.0.1:" + port;
    }
  }

  private boolean isComplete() {
    for (int port : ports) {
      List<String> master = ask(port, "SENTINEL", "MASTER", NAME);
      if (!field(master, "num-slaves").equals("2")
          || !field(master, "num-other-sentinels").equals("2")) {
        return false;
      }
    }
    return true;
  }

  private static String field(List<String> fields, String name) {
    int at = fields.indexOf(name);
    return at < 0 ? "" : fields.get(at + 1);
  }

  private @Nullable String password() {
    return access == null ? null : access.sentinelPassword();
  }

  private List<String> ask(int port, String... words) {
    try {
      return RawRedisConnection.ask(port, password(), List.of(words));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code redis-sentinel://127.0.0.1:port,…/mymaster}; without passwords, if it has any. */
  public String url() {
    return url(entries);
  }

  /** The same with these ports of Sentinels. */
  public String url(List<Integer> entries) {
    return (access == null ? "redis" : "rediss")
        + "-sentinel://"
        + String.join(",", entries.stream().map(port -> "127.0.0.1:" + port).toList())
        + "/"
        + NAME;
  }

  /** All servers, whichever is the master. */
  public List<RedisServer> servers() {
    return List.copyOf(servers);
  }

  /** The ports at which clients find the Sentinels. */
  public List<Integer> entries() {
    return List.copyOf(entries);
  }

  /** The master according to the first Sentinel. */
  public RedisServer master() {
    int port = masterPort(ports.get(0));
    return servers.stream()
        .filter(server -> server.portOfOthers() == port)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("No server of ours has port " + port + "."));
  }

  /** Whether all Sentinels name the same master: for a while after a failover they do not. */
  public boolean isAgreed() {
    return ports.stream().map(this::masterPort).distinct().count() == 1;
  }

  private int masterPort(int sentinel) {
    return Integer.parseInt(ask(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME).get(1));
  }

  /** All servers but the master. */
  public List<RedisServer> replicas() {
    RedisServer master = master();
    return servers.stream().filter(server -> server != master).toList();
  }

  /** Whether all others are replicas of the master, and connected to it. */
  public boolean isWhole() {
    RedisServer master = master();
    return servers.stream().allMatch(server -> server == master || server.follows(master));
  }

  /** Has a Sentinel make a replica the master, without waiting for a failure. Returns at once. */
  public void failOver() {
    ask(ports.get(0), "SENTINEL", "FAILOVER", NAME);
  }

  /**
   * Has all Sentinels forget the set and monitor the same master again, as for a change of its
   * address: they then count failovers from 0. Waits until they know all servers again.
   */
  public void watchAnew() {
    String port = Integer.toString(master().portOfOthers());
    String downAfter =
        field(ask(ports.get(0), "SENTINEL", "MASTER", NAME), "down-after-milliseconds");
    // All of them first: one that remembers would tell the others.
    for (int sentinel : ports) {
      ask(sentinel, "SENTINEL", "REMOVE", NAME);
    }
    for (int sentinel : ports) {
      ask(sentinel, "SENTINEL", "MONITOR", NAME, host, port, "2");
      ask(sentinel, "SENTINEL", "SET", NAME, "down-after-milliseconds", downAfter);
      ask(sentinel, "SENTINEL", "SET", NAME, "failover-timeout", "4000");
      if (access != null) {
        ask(sentinel, "SENTINEL", "SET", NAME, "auth-pass", access.password());
      }
    }
    BoundedWait.until(PATIENCE, "the Sentinels knew of all again", this::isComplete);
  }

  /** The highest number of failovers known to a Sentinel. */
  public int failovers() {
    return ports.stream()
        .mapToInt(
            port -> Integer.parseInt(field(ask(port, "SENTINEL", "MASTER", NAME), "config-epoch")))
        .max()
        .orElse(0);
  }

  /**
   * Waits until another server is the master and reports that role itself. Polls every few
   * milliseconds.
   */
  public RedisServer awaitMasterOtherThan(RedisServer before) {
    BoundedWait.until(
        PATIENCE,
        "another server was master",
        () ->
            servers.stream()
                .filter(server -> server != before && server.isRunning())
                .anyMatch(server -> server.says("role", "master")));
    return servers.stream()
        .filter(server -> server != before && server.isRunning())
        .filter(server -> server.says("role", "master"))
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    sentinels.forEach(SentinelProcess::close);
    servers.forEach(RedisServer::close);
  }
}
