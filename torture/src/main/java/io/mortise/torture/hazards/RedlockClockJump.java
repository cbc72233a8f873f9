package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.FakeClock;
import io.mortise.testkit.server.RedisServer;
import io.mortise.testkit.server.Relay;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The clock of one server of a quorum jumps ahead, and the lock there is over. */
final class RedlockClockJump implements Hazard.Story {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOCK = "mortise-hazard/ledger";

  /** Three servers, the second with a clock that can be set. */
  private static Trio start(Stage stage, FakeClock clock) {
    Path binary =
        RedisServer.under(clock)
            .orElseThrow(
                () -> new MissingProgramException("a redis-server that runs under libfaketime"));
    RedisServer second = stage.open(RedisServer.start(clock, binary));
    return new Trio(stage, List.of(stage.redis(), second, stage.redis()));
  }

  @Override
  public void play(Stage stage) throws Exception {
    FakeClock clock =
        stage.open(
            FakeClock.installed().orElseThrow(() -> new MissingProgramException("faketime")));
    Trio trio = start(stage, clock);
    naive(stage, trio, clock);
    clock.set(Duration.ZERO);
    mortise(stage, trio, clock);
  }

  private static void naive(Stage stage, Trio trio, FakeClock clock) {
    stage.chapter("The naive Redlock: SET ledger A NX PX 30000 on three servers, two make a lock");
    List<Relay> lines = trio.lines();
    lines.get(2).cut();
    NaiveRedlock a = new NaiveRedlock(Trio.portsOf(lines), "A");
    stage.await("A gets the naive lock", () -> a.isMajority(a.lock(LOCK, 30_000)));
    stage.say("A", "has the votes of servers 1 and 2 for 30 s; it cannot reach the third");
    clock.set(HOUR);
    stage.say("server 2", "has its clock set ahead by an hour");
    NaiveRedlock b = new NaiveRedlock(trio.ports(), "B");
    stage.await("B gets the naive lock", () -> b.isMajority(b.lock(LOCK, 30_000)));
    stage.say("B", "has the votes of servers 2 and 3 while A has its lock by its own clock");
    stage.conclude("broke, as told: two hold, and nothing tells them apart");
  }

  private static void mortise(Stage stage, Trio trio, FakeClock clock) throws Exception {
    stage.chapter("Mortise over the same three, TTL 4 s, strict-expiry=true");
    List<Relay> lines = trio.lines();
    LockClient a = trio.client("A", Trio.portsOf(lines), "&strict-expiry=true");
    LockClient b = trio.client("B", trio.ports(), "&strict-expiry=true");
    lines.get(2).cut();
    Lease first = a.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    stage.say("A", "has the votes of servers 1 and 2, token " + token);
    clock.set(HOUR);
    stage.say("server 2", "has its clock set ahead by an hour");
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    while (System.nanoTime() < end) {
      stage.expect(Trio.attempt(b, LOCK + "/2").isEmpty(), "B does not get the lock");
      stage.pass(Duration.ofMillis(200));
    }
    stage.expect(first.isValid(), "A holds on");
    stage.say("B", "does not get it for 3 s of trying: no server's clock decides who is dead");
    first.close();
    try (Lease second = b.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20))) {
      stage.say("B", "gets it when A has released, token " + second.token());
      stage.expect(second.token() > token, "the token rises");
    }
    stage.conclude("held, as told: a session ends when its beat was seen to stand still");
  }
}
