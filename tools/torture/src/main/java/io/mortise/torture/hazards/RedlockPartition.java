package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A holder is cut off from most servers of a quorum, but one still answers it. */
final class RedlockPartition implements Hazard.HazardScenario {
  private static final String LOCK = "mortise-hazard/ledger";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    RedisQuorumServers redisQuorumServers = RedisQuorumServers.start(hazardContext);
    naive(hazardContext, redisQuorumServers);
    mortise(hazardContext, redisQuorumServers);
  }

  private static void naive(HazardContext hazardContext, RedisQuorumServers redisQuorumServers) {
    hazardContext.chapter(
        "The naive Redlock: three servers; its watchdog asks whether the lock is still there");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    NaiveRedlock a = new NaiveRedlock(RedisQuorumServers.portsOf(lines), "A");
    hazardContext.await("A gets the naive lock", () -> a.lock(LOCK, 2000) == 3);
    hazardContext.say("A", "has all three votes for 2 s, and extends them now and then");
    lines.get(0).cut();
    lines.get(1).cut();
    hazardContext.say("network", "cuts A off from servers 1 and 2");
    RedisConnection third = hazardContext.connect(lines.get(2).port());
    NaiveRedlock b = new NaiveRedlock(redisQuorumServers.ports(), "B");
    hazardContext.await(
        "the naive lock expires where A cannot extend it",
        () -> {
          third.call("PEXPIRE", LOCK, "20000");
          return b.isMajority(b.lock(LOCK, 30_000));
        });
    hazardContext.say("B", "has the votes of servers 1 and 2");
    hazardContext.expect(
        "A".equals(third.call("GET", LOCK)), "A still finds its lock on the third server");
    hazardContext.say("A", "still extends its lock on server 3, is told OK, and goes on writing");
    hazardContext.conclude("broke, as told: who asks one server of three learns nothing");
  }

  private static void mortise(HazardContext hazardContext, RedisQuorumServers redisQuorumServers)
      throws Exception {
    hazardContext.chapter("Mortise over the same three, TTL 4 s");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    LockClient a = redisQuorumServers.client("A", RedisQuorumServers.portsOf(lines), "");
    LockClient b = redisQuorumServers.client("B", redisQuorumServers.ports(), "");
    Lease first = a.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    first.onLost(lost -> loss.set(lost.getMessage()));
    hazardContext.say("A", "has the lock, token " + token);
    lines.get(0).cut();
    lines.get(1).cut();
    hazardContext.say("network", "cuts A off from servers 1 and 2");
    hazardContext.expect(
        RedisQuorumServers.attempt(b, LOCK + "/2").isEmpty(), "B does not get the lock at once");
    Lease second = redisQuorumServers.acquireAfter(b, LOCK + "/2", first, token);
    hazardContext.say("B", "gets the lock when the time of A is over, token " + second.token());
    hazardContext.await("A is told", () -> loss.get() != null);
    hazardContext.say("A", "was told before: " + loss.get());
    ProtectedAccount ledger = new ProtectedAccount(0);
    hazardContext.expect(ledger.write(1, second.token()), "the ledger takes the write of B");
    hazardContext.expect(!ledger.write(2, token), "the ledger refuses a late write of A");
    second.close();
    hazardContext.conclude("held, as told: one server of three keeps no lease alive");
  }
}
