package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.time.Duration;

/** A server of a quorum restarts without its data while a holder relies on its vote. */
final class RedlockRestart implements Hazard.HazardScenario {
  private static final String LOCK = "mortise-hazard/ledger";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    naive(hazardContext);
    mortise(hazardContext);
  }

  private static void naive(HazardContext hazardContext) {
    hazardContext.chapter(
        "The naive Redlock: SET ledger A NX PX 30000 on three servers, two make a lock");
    RedisQuorumServers redisQuorumServers = RedisQuorumServers.start(hazardContext);
    redisQuorumServers.server(3).kill();
    NaiveRedlock a = new NaiveRedlock(redisQuorumServers.ports(), "A");
    hazardContext.await("A gets the naive lock", () -> a.isMajority(a.lock(LOCK, 30_000)));
    hazardContext.say(
        "A", "has the votes of servers 1 and 2, the third is down: that is a majority");
    redisQuorumServers.server(3).restart();
    redisQuorumServers.restart(2);
    hazardContext.say("servers", "the third comes up; the second crashes, and comes back empty");
    NaiveRedlock b = new NaiveRedlock(redisQuorumServers.ports(), "B");
    hazardContext.await(
        "B gets the naive lock while A holds it", () -> b.isMajority(b.lock(LOCK, 30_000)));
    hazardContext.say("B", "has the votes of servers 2 and 3: that is a majority, too");
    hazardContext.conclude(
        "broke, as told: two hold for the rest of 30 s, and nothing tells them apart");
  }

  private static void mortise(HazardContext hazardContext) throws Exception {
    hazardContext.chapter("Mortise over the same three, TTL 4 s, quarantine 5 s");
    RedisQuorumServers redisQuorumServers = RedisQuorumServers.start(hazardContext);
    LockClient a = redisQuorumServers.client("A", redisQuorumServers.ports(), "");
    LockClient b = redisQuorumServers.client("B", redisQuorumServers.ports(), "");
    hazardContext.say("servers", "have run for the quarantine, and vote");
    redisQuorumServers.server(3).kill();
    Lease first = a.lock(LOCK).acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    hazardContext.say("A", "has the votes of servers 1 and 2, token " + token);
    redisQuorumServers.server(3).restart();
    redisQuorumServers.restart(2);
    hazardContext.say("servers", "the third comes up; the second crashes, and comes back empty");
    hazardContext.expect(
        RedisQuorumServers.attempt(b, LOCK).isEmpty(),
        "B does not get the lock of servers that have forgotten");
    hazardContext.say("B", "does not get it: servers that may have forgotten have no vote for 5 s");
    Lease second = redisQuorumServers.acquireAfter(b, LOCK, first, token);
    hazardContext.say("B", "gets it later, token " + second.token() + "; by then A has been told");
    ProtectedAccount ledger = new ProtectedAccount(0);
    hazardContext.expect(ledger.write(1, second.token()), "the ledger takes the write of B");
    hazardContext.expect(!ledger.write(2, token), "the ledger refuses a late write of A");
    second.close();
    hazardContext.conclude("held, as told: a lease hangs on the very servers that granted it");
  }
}
