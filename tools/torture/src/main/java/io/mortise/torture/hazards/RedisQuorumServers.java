package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Three independent Redis servers without persistence, with a proxy between each client and each
 * server.
 */
final class RedisQuorumServers {
  static final Duration TTL = Duration.ofSeconds(4);
  private static final Duration QUARANTINE = Duration.ofSeconds(5);

  private final HazardContext hazardContext;
  private final List<RedisServer> servers;

  RedisQuorumServers(HazardContext hazardContext, List<RedisServer> servers) {
    this.hazardContext = hazardContext;
    this.servers = List.copyOf(servers);
  }

  static RedisQuorumServers start(HazardContext hazardContext) {
    return new RedisQuorumServers(
        hazardContext,
        List.of(hazardContext.redis(), hazardContext.redis(), hazardContext.redis()));
  }

  RedisServer server(int number) {
    return servers.get(number - 1);
  }

  /** Restarts a server without data. */
  void restart(int number) {
    server(number).kill();
    server(number).restart();
  }

  List<Integer> ports() {
    return servers.stream().map(RedisServer::port).toList();
  }

  /** The proxies of one client. */
  List<FaultInjectionProxy> lines() {
    List<FaultInjectionProxy> lines = new ArrayList<>();
    servers.forEach(server -> lines.add(hazardContext.open(FaultInjectionProxy.to(server.port()))));
    return lines;
  }

  static List<Integer> portsOf(List<FaultInjectionProxy> lines) {
    return lines.stream().map(FaultInjectionProxy::port).toList();
  }

  /** Opens a client of Mortise on these ports; waits until the servers may vote. */
  LockClient client(String name, List<Integer> ports, String more) {
    String members =
        ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(","));
    String url = "quorum:" + members + "?quarantine=" + QUARANTINE.toMillis() + "ms" + more;
    LockClient client = hazardContext.client(url, name, TTL);
    hazardContext.await(
        "the servers have run for the quarantine", () -> tryLock(client, "warm-up"));
    return client;
  }

  private static boolean tryLock(LockClient client, String lock) {
    Optional<Lease> lease = attempt(client, "mortise-hazard/" + lock);
    lease.ifPresent(Lease::close);
    return lease.isPresent();
  }

  /** Tries to acquire; empty if it is busy, or if too few servers vote. */
  static Optional<Lease> attempt(LockClient client, String lock) {
    try {
      return client.lock(lock).tryAcquire();
    } catch (LockException tooFew) {
      return Optional.empty();
    }
  }

  /**
   * Retries until the lock is granted; checks that the first lease, with that token, is no longer
   * valid by then.
   */
  Lease acquireAfter(LockClient client, String lock, Lease first, long token) {
    AtomicReference<@Nullable Lease> granted = new AtomicReference<>();
    hazardContext.await(
        "B gets the lock",
        () -> {
          attempt(client, lock).ifPresent(granted::set);
          return granted.get() != null;
        });
    hazardContext.expect(!first.isValid(), "A does not believe any more when B has the lock");
    Lease lease = granted.get();
    if (lease == null) {
      throw new UnexpectedOutcomeException("B gets the lock");
    }
    hazardContext.expect(lease.token() > token, "the token rises");
    return lease;
  }
}
