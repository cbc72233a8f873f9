package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.server.RedisServer;
import io.mortise.testkit.server.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Three independent Redis servers without persistence, and a line of each client to each of them
 * that can be cut.
 */
final class Trio {
  static final Duration TTL = Duration.ofSeconds(4);
  private static final Duration QUARANTINE = Duration.ofSeconds(5);

  private final Stage stage;
  private final List<RedisServer> servers;

  Trio(Stage stage, List<RedisServer> servers) {
    this.stage = stage;
    this.servers = List.copyOf(servers);
  }

  static Trio start(Stage stage) {
    return new Trio(stage, List.of(stage.redis(), stage.redis(), stage.redis()));
  }

  RedisServer server(int number) {
    return servers.get(number - 1);
  }

  /** It comes back empty. */
  void restart(int number) {
    server(number).kill();
    server(number).restart();
  }

  List<Integer> ports() {
    return servers.stream().map(RedisServer::port).toList();
  }

  /** One client's lines to the servers. */
  List<Relay> lines() {
    List<Relay> lines = new ArrayList<>();
    servers.forEach(server -> lines.add(stage.open(Relay.to(server.port()))));
    return lines;
  }

  static List<Integer> portsOf(List<Relay> lines) {
    return lines.stream().map(Relay::port).toList();
  }

  /** A client of Mortise over these addresses; waits until the servers may vote. */
  LockClient client(String name, List<Integer> ports, String more) {
    String members =
        ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(","));
    String url = "quorum:" + members + "?quarantine=" + QUARANTINE.toMillis() + "ms" + more;
    LockClient client = stage.client(url, name, TTL);
    stage.await("the servers have run for the quarantine", () -> tryLock(client, "warm-up"));
    return client;
  }

  private static boolean tryLock(LockClient client, String lock) {
    Optional<Lease> lease = attempt(client, "mortise-hazard/" + lock);
    lease.ifPresent(Lease::close);
    return lease.isPresent();
  }

  /** Empty if it is busy, or if too few servers vote. */
  static Optional<Lease> attempt(LockClient client, String lock) {
    try {
      return client.lock(lock).tryAcquire();
    } catch (LockException tooFew) {
      return Optional.empty();
    }
  }

  /** Tries until it gets the lock; the first, of that token, may not be valid by then. */
  Lease acquireAfter(LockClient client, String lock, Lease first, long token) {
    AtomicReference<@Nullable Lease> granted = new AtomicReference<>();
    stage.await(
        "B gets the lock",
        () -> {
          attempt(client, lock).ifPresent(granted::set);
          return granted.get() != null;
        });
    stage.expect(!first.isValid(), "A does not believe any more when B has the lock");
    Lease lease = granted.get();
    if (lease == null) {
      throw new NotAsToldException("B gets the lock");
    }
    stage.expect(lease.token() > token, "the token rises");
    return lease;
  }
}
