package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Each name belongs to one of several servers; one is unreachable, and its names move. */
final class ShardFailure implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String LOCK = "mortise-hazard/parcel";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    RedisQuorumServers redisQuorumServers = RedisQuorumServers.start(hazardContext);
    naive(hazardContext, redisQuorumServers);
    mortise(hazardContext, redisQuorumServers);
  }

  /**
   * Acquires on the first reachable server from the name's own on, in the order of the client's
   * ring.
   */
  private static boolean lock(List<Integer> ports, String name, String holder) {
    int home = Math.floorMod(name.hashCode(), ports.size());
    for (int i = 0; i < ports.size(); i++) {
      try (RedisConnection server = new RedisConnection(ports.get((home + i) % ports.size()))) {
        return server.lock(name, holder, TTL.toMillis());
      } catch (IOException | UncheckedIOException e) {
        // Removed from the ring: its names belong to the next server now.
      }
    }
    return false;
  }

  private static void naive(HazardContext hazardContext, RedisQuorumServers redisQuorumServers) {
    hazardContext.chapter(
        "The naive lock: each name on one of three servers; one that is dead is left out");
    int home = Math.floorMod(LOCK.hashCode(), 3);
    hazardContext.expect(lock(redisQuorumServers.ports(), LOCK, "A"), "A gets the naive lock");
    hazardContext.say(
        "A", "has the lock for 30 s on server " + (home + 1) + ", where the name belongs");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    lines.get(home).cut();
    hazardContext.say("network", "cuts B off from that server; for B it is dead");
    hazardContext.expect(
        lock(RedisQuorumServers.portsOf(lines), LOCK, "B"),
        "B gets the naive lock while A holds it");
    hazardContext.say("B", "leaves it out, and has the lock on the next server");
    hazardContext.conclude("broke, as told: a name that moves is locked twice");
  }

  private static LockClient client(HazardContext hazardContext, String name, List<Integer> ports) {
    String hosts = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    return hazardContext.client("redis-sharded://" + hosts, name, TTL);
  }

  private static void mortise(HazardContext hazardContext, RedisQuorumServers redisQuorumServers)
      throws Exception {
    hazardContext.chapter("Mortise: redis-sharded:// over the same three, TTL 30 s");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    LockClient a = client(hazardContext, "A", RedisQuorumServers.portsOf(lines));
    LockClient b = client(hazardContext, "B", RedisQuorumServers.portsOf(lines));
    Lease first = a.lock(LOCK).acquire();
    long token = first.token();
    hazardContext.say("A", "has the lock, token " + token);
    int home = homeOf(hazardContext, redisQuorumServers);
    lines.get(home).cut();
    hazardContext.say("network", "cuts all off from server " + (home + 1) + ", which has the name");
    hazardContext.expect(isUnavailable(b, LOCK), "B is told that the server cannot be reached");
    hazardContext.say("B", "is told that the store is unavailable: neither busy nor granted");
    List<String> others = new ArrayList<>();
    for (int i = 0; others.isEmpty() && i < 50; i++) {
      String name = LOCK + "/" + i;
      if (!isUnavailable(b, name)) {
        others.add(name);
      }
    }
    hazardContext.expect(!others.isEmpty(), "names of the other servers are locked as ever");
    hazardContext.say("B", "locks '" + others.get(0) + "' as ever: its server is another one");
    lines.get(home).lead(redisQuorumServers.server(home + 1).port());
    hazardContext.say("network", "is mended");
    hazardContext.await("the server is asked again", () -> !isUnavailable(b, LOCK));
    hazardContext.expect(RedisQuorumServers.attempt(b, LOCK).isEmpty(), "B does not get the lock");
    hazardContext.say("B", "is told that it is busy: A has it still");
    first.close();
    try (Lease second = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      hazardContext.say("B", "gets it when A has released, token " + second.token());
      hazardContext.expect(second.token() > token, "the token rises");
    }
    hazardContext.conclude("held, as told: a name never moves by itself");
  }

  /** The server that has the keys of the lock. */
  private static int homeOf(HazardContext hazardContext, RedisQuorumServers redisQuorumServers) {
    for (int i = 0; i < 3; i++) {
      Object keys =
          hazardContext.connect(redisQuorumServers.ports().get(i)).call("KEYS", "*l:*parcel*");
      if (keys instanceof List<?> found && !found.isEmpty()) {
        return i;
      }
    }
    throw new UnexpectedOutcomeException("one of the servers has the lock's record");
  }

  private static boolean isUnavailable(LockClient client, String name) {
    try {
      Optional<Lease> lease = client.lock(name).tryAcquire();
      lease.ifPresent(Lease::close);
      return false;
    } catch (StoreUnavailableException e) {
      return true;
    }
  }
}
