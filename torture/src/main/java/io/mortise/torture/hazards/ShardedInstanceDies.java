package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.server.Relay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Each name has a server among several; one cannot be reached, and its names move. */
final class ShardedInstanceDies implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String LOCK = "mortise-hazard/parcel";

  @Override
  public void play(Stage stage) throws Exception {
    Trio trio = Trio.start(stage);
    naive(stage, trio);
    mortise(stage, trio);
  }

  /** The first server that can be reached, from where the name belongs: its client's ring. */
  private static boolean lock(List<Integer> ports, String name, String holder) {
    int home = Math.floorMod(name.hashCode(), ports.size());
    for (int i = 0; i < ports.size(); i++) {
      try (RedisConnection server = new RedisConnection(ports.get((home + i) % ports.size()))) {
        return server.lock(name, holder, TTL.toMillis());
      } catch (IOException | UncheckedIOException e) {
        // Taken out of the ring: its names belong to the next one now.
      }
    }
    return false;
  }

  private static void naive(Stage stage, Trio trio) {
    stage.chapter(
        "The naive lock: each name on one of three servers; one that is dead is left out");
    int home = Math.floorMod(LOCK.hashCode(), 3);
    stage.expect(lock(trio.ports(), LOCK, "A"), "A gets the naive lock");
    stage.say("A", "has the lock for 30 s on server " + (home + 1) + ", where the name belongs");
    List<Relay> lines = trio.lines();
    lines.get(home).cut();
    stage.say("network", "cuts B off from that server; for B it is dead");
    stage.expect(lock(Trio.portsOf(lines), LOCK, "B"), "B gets the naive lock while A holds it");
    stage.say("B", "leaves it out, and has the lock on the next server");
    stage.conclude("broke, as told: a name that moves is locked twice");
  }

  private static LockClient client(Stage stage, String name, List<Integer> ports) {
    String hosts = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    return stage.client("redis-sharded://" + hosts, name, TTL);
  }

  private static void mortise(Stage stage, Trio trio) throws Exception {
    stage.chapter("Mortise: redis-sharded:// over the same three, TTL 30 s");
    List<Relay> lines = trio.lines();
    LockClient a = client(stage, "A", Trio.portsOf(lines));
    LockClient b = client(stage, "B", Trio.portsOf(lines));
    Lease first = a.lock(LOCK).acquire();
    long token = first.token();
    stage.say("A", "has the lock, token " + token);
    int home = homeOf(stage, trio);
    lines.get(home).cut();
    stage.say("network", "cuts all off from server " + (home + 1) + ", which has the name");
    stage.expect(isUnavailable(b, LOCK), "B is told that the server cannot be reached");
    stage.say("B", "is told that the store is unavailable: neither busy nor granted");
    List<String> others = new ArrayList<>();
    for (int i = 0; others.isEmpty() && i < 50; i++) {
      String name = LOCK + "/" + i;
      if (!isUnavailable(b, name)) {
        others.add(name);
      }
    }
    stage.expect(!others.isEmpty(), "names of the other servers are locked as ever");
    stage.say("B", "locks '" + others.get(0) + "' as ever: its server is another one");
    lines.get(home).lead(trio.server(home + 1).port());
    stage.say("network", "is mended");
    stage.await("the server is asked again", () -> !isUnavailable(b, LOCK));
    stage.expect(Trio.attempt(b, LOCK).isEmpty(), "B does not get the lock");
    stage.say("B", "is told that it is busy: A has it still");
    first.close();
    try (Lease second = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      stage.say("B", "gets it when A has released, token " + second.token());
      stage.expect(second.token() > token, "the token rises");
    }
    stage.conclude("held, as told: a name never moves by itself");
  }

  /** The server that has the keys of the lock. */
  private static int homeOf(Stage stage, Trio trio) {
    for (int i = 0; i < 3; i++) {
      Object keys = stage.connect(trio.ports().get(i)).call("KEYS", "*l:*parcel*");
      if (keys instanceof List<?> found && !found.isEmpty()) {
        return i;
      }
    }
    throw new NotAsToldException("one of the servers has the lock's record");
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
