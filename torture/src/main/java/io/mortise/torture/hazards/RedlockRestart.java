package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.time.Duration;

/** A server of a quorum restarts without its data while somebody counts on its vote. */
final class RedlockRestart implements Hazard.Story {
  private static final String LOCK = "mortise-hazard/ledger";

  @Override
  public void play(Stage stage) throws Exception {
    naive(stage);
    mortise(stage);
  }

  private static void naive(Stage stage) {
    stage.chapter("The naive Redlock: SET ledger A NX PX 30000 on three servers, two make a lock");
    Trio trio = Trio.start(stage);
    trio.server(3).kill();
    NaiveRedlock a = new NaiveRedlock(trio.ports(), "A");
    stage.await("A gets the naive lock", () -> a.isMajority(a.lock(LOCK, 30_000)));
    stage.say("A", "has the votes of servers 1 and 2, the third is down: that is a majority");
    trio.server(3).restart();
    trio.restart(2);
    stage.say("servers", "the third comes up; the second crashes, and comes back empty");
    NaiveRedlock b = new NaiveRedlock(trio.ports(), "B");
    stage.await("B gets the naive lock while A holds it", () -> b.isMajority(b.lock(LOCK, 30_000)));
    stage.say("B", "has the votes of servers 2 and 3: that is a majority, too");
    stage.conclude("broke, as told: two hold for the rest of 30 s, and nothing tells them apart");
  }

  private static void mortise(Stage stage) throws Exception {
    stage.chapter("Mortise over the same three, TTL 4 s, quarantine 5 s");
    Trio trio = Trio.start(stage);
    LockClient a = trio.client("A", trio.ports(), "");
    LockClient b = trio.client("B", trio.ports(), "");
    stage.say("servers", "have run for the quarantine, and vote");
    trio.server(3).kill();
    Lease first = a.lock(LOCK).acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    stage.say("A", "has the votes of servers 1 and 2, token " + token);
    trio.server(3).restart();
    trio.restart(2);
    stage.say("servers", "the third comes up; the second crashes, and comes back empty");
    stage.expect(
        Trio.attempt(b, LOCK).isEmpty(), "B does not get the lock of servers that have forgotten");
    stage.say("B", "does not get it: servers that may have forgotten have no vote for 5 s");
    Lease second = trio.acquireAfter(b, LOCK, first, token);
    stage.say("B", "gets it later, token " + second.token() + "; by then A has been told");
    Account ledger = new Account(0);
    stage.expect(ledger.write(1, second.token()), "the ledger takes the write of B");
    stage.expect(!ledger.write(2, token), "the ledger refuses a late write of A");
    second.close();
    stage.conclude("held, as told: a lease hangs on the very servers that granted it");
  }
}
