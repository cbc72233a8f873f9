package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.Relay;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A holder is cut off from most servers of a quorum, and one of them still answers it. */
final class RedlockPartition implements Hazard.Story {
  private static final String LOCK = "mortise-hazard/ledger";

  @Override
  public void play(Stage stage) throws Exception {
    Trio trio = Trio.start(stage);
    naive(stage, trio);
    mortise(stage, trio);
  }

  private static void naive(Stage stage, Trio trio) {
    stage.chapter(
        "The naive Redlock: three servers; its watchdog asks whether the lock is still there");
    List<Relay> lines = trio.lines();
    NaiveRedlock a = new NaiveRedlock(Trio.portsOf(lines), "A");
    stage.await("A gets the naive lock", () -> a.lock(LOCK, 2000) == 3);
    stage.say("A", "has all three votes for 2 s, and extends them now and then");
    lines.get(0).cut();
    lines.get(1).cut();
    stage.say("network", "cuts A off from servers 1 and 2");
    RedisConnection third = stage.connect(lines.get(2).port());
    NaiveRedlock b = new NaiveRedlock(trio.ports(), "B");
    stage.await(
        "the naive lock expires where A cannot extend it",
        () -> {
          third.call("PEXPIRE", LOCK, "20000");
          return b.isMajority(b.lock(LOCK, 30_000));
        });
    stage.say("B", "has the votes of servers 1 and 2");
    stage.expect("A".equals(third.call("GET", LOCK)), "A still finds its lock on the third server");
    stage.say("A", "still extends its lock on server 3, is told OK, and goes on writing");
    stage.conclude("broke, as told: who asks one server of three learns nothing");
  }

  private static void mortise(Stage stage, Trio trio) throws Exception {
    stage.chapter("Mortise over the same three, TTL 4 s");
    List<Relay> lines = trio.lines();
    LockClient a = trio.client("A", Trio.portsOf(lines), "");
    LockClient b = trio.client("B", trio.ports(), "");
    Lease first = a.lock(LOCK + "/2").acquireWithin(Duration.ofSeconds(20));
    long token = first.token();
    AtomicReference<@Nullable String> loss = new AtomicReference<>();
    first.onLost(lost -> loss.set(lost.getMessage()));
    stage.say("A", "has the lock, token " + token);
    lines.get(0).cut();
    lines.get(1).cut();
    stage.say("network", "cuts A off from servers 1 and 2");
    stage.expect(Trio.attempt(b, LOCK + "/2").isEmpty(), "B does not get the lock at once");
    Lease second = trio.acquireAfter(b, LOCK + "/2", first, token);
    stage.say("B", "gets the lock when the time of A is over, token " + second.token());
    stage.await("A is told", () -> loss.get() != null);
    stage.say("A", "was told before: " + loss.get());
    Account ledger = new Account(0);
    stage.expect(ledger.write(1, second.token()), "the ledger takes the write of B");
    stage.expect(!ledger.write(2, token), "the ledger refuses a late write of A");
    second.close();
    stage.conclude("held, as told: one server of three keeps no lease alive");
  }
}
