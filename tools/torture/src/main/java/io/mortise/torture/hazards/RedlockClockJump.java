package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.FakeClock;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The clock of one server of a quorum jumps ahead, and the lock there expires. */
final class RedlockClockJump implements Hazard.HazardScenario {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOCK = "mortise-hazard/ledger";

  /** Starts three servers, the second with a settable clock. */
  private static RedisQuorumServers start(HazardContext hazardContext, FakeClock clock) {
    Path binary =
        RedisServer.under(clock)
            .orElseThrow(
                () -> new MissingProgramException("a redis-server that runs under libfaketime"));
    RedisServer second = hazardContext.open(RedisServer.start(clock, binary));
    return new RedisQuorumServers(
        hazardContext, List.of(hazardContext.redis(), second, hazardContext.redis()));
  }

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    FakeClock clock =
        hazardContext.open(
            FakeClock.installed().orElseThrow(() -> new MissingProgramException("faketime")));
    RedisQuorumServers redisQuorumServers = start(hazardContext, clock);
    naive(hazardContext, redisQuorumServers, clock);
    clock.set(Duration.ZERO);
    mortise(hazardContext, redisQuorumServers, clock);
  }

  private static void naive(
      HazardContext hazardContext, RedisQuorumServers redisQuorumServers, FakeClock clock) {
    hazardContext.chapter(
        "The naive Redlock: SET ledger A NX PX 30000 on three servers, two make a lock");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    lines.get(2).cut();
    NaiveRedlock a = new NaiveRedlock(RedisQuorumServers.portsOf(lines), "A");
    hazardContext.await("A gets the naive lock", () -> a.isMajority(a.lock(LOCK, 30_000)));
    hazardContext.say("A", "has the votes of servers 1 and 2 for 30 s; it cannot reach the third");
    clock.set(HOUR);
    hazardContext.say("server 2", "has its clock set ahead by an hour");
    NaiveRedlock b = new NaiveRedlock(redisQuorumServers.ports(), "B");
    hazardContext.await("B gets the naive lock", () -> b.isMajority(b.lock(LOCK, 30_000)));
    hazardContext.say(
        "B", "has the votes of servers 2 and 3 while A has its lock by its own clock");
    hazardContext.conclude("broke, as told: two hold, and nothing tells them apart");
  }

  private static void mortise(
      HazardContext hazardContext, RedisQuorumServers redisQuorumServers, FakeClock clock)
      throws Exception {
    hazardContext.chapter("Mortise over the same three, TTL 4 s, strict-expiry=true");
    List<FaultInjectionProxy> lines = redisQuorumServers.lines();
    LockClient a =
        redisQuorumServers.client("A", RedisQuorumServers.portsOf(lines), "&strict-expiry=true");
    LockClient b =
        redisQuorumServers.client("B", redisQuorumServers.ports(), "&strict-expiry=true");
    lines.get(2).cut();
    Lease first = a.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    hazardContext.say("A", "has the votes of servers 1 and 2, token " + token);
    clock.set(HOUR);
    hazardContext.say("server 2", "has its clock set ahead by an hour");
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    while (System.nanoTime() < end) {
      hazardContext.expect(
          RedisQuorumServers.attempt(b, LOCK + "/2").isEmpty(), "B does not get the lock");
      hazardContext.pass(Duration.ofMillis(200));
    }
    hazardContext.expect(first.isValid(), "A holds on");
    hazardContext.say(
        "B", "does not get it for 3 s of trying: no server's clock decides who is dead");
    first.close();
    try (Lease second = b.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20))) {
      hazardContext.say("B", "gets it when A has released, token " + second.token());
      hazardContext.expect(second.token() > token, "the token rises");
    }
    hazardContext.conclude("held, as told: a session ends when its beat was seen to stand still");
  }
}
