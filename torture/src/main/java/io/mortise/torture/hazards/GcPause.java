package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;

/** A holder that is stopped for longer than its lock lives: a long garbage collection, SIGSTOP. */
final class GcPause implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final String LOCK = "mortise-hazard/account";

  @Override
  public void play(Stage stage) throws Exception {
    RedisServer server = stage.redis();
    naive(stage, server);
    mortise(stage, stage.storeOr(server.url()));
  }

  private static void naive(Stage stage, RedisServer server) {
    stage.chapter("The naive lock: SET account A NX PX 2000");
    Account account = new Account(100);
    RedisConnection b = stage.connect(server.port());
    Player a = stage.open(new Player());
    stage.expect(
        a.ask("naive", Integer.toString(server.port()), "2000", LOCK).equals("ok"),
        "A gets the naive lock");
    long read = account.read();
    stage.say("A", "has the lock for 2 s, reads 100, wants to take 10");
    a.stop();
    stage.say("A", "is stopped (SIGSTOP to process " + a.pid() + ", as a garbage collector would)");
    stage.await("the naive lock expires", () -> b.lock(LOCK, "B", 10_000));
    stage.say("B", "gets the lock, as its time is over; takes 30");
    account.write(account.read() - 30);
    b.call("DEL", LOCK);
    a.goOn();
    stage.say("A", "goes on where it was: it has the lock, as far as it knows");
    account.write(read - 10);
    stage.say(
        "account",
        "has " + account.read() + " instead of 60: what B took is lost, and nobody knows");
    stage.expect(account.read() == 90, "the write of B is lost");
    stage.conclude("broke, as told");
  }

  private static void mortise(Stage stage, String url) throws Exception {
    stage.chapter("Mortise, TTL 2 s");
    Account account = new Account(100);
    LockClient b = stage.client(url, "B", TTL);
    Player a = stage.open(new Player());
    long first = Long.parseLong(a.ask("mortise", url, Long.toString(TTL.toMillis()), LOCK));
    account.write(account.read(), first);
    long read = account.read();
    stage.say("A", "has the lock, token " + first + "; shows it to the account, reads 100");
    a.stop();
    stage.say("A", "is stopped (SIGSTOP to process " + a.pid() + ")");
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      long second = lease.token();
      stage.say("B", "gets the lock, token " + second + "; takes 30");
      stage.expect(second > first, "the token rises");
      stage.expect(account.write(account.read() - 30, second), "the account takes the write of B");
      a.goOn();
      boolean valid = Boolean.parseBoolean(a.ask("valid"));
      stage.say("A", "goes on, and asks its lease first: isValid() is " + valid);
      stage.expect(!valid, "the lease of A is lost when it wakes up");
      boolean taken = account.write(read - 10, first);
      stage.say("A", "does not care, and writes 90 with its token");
      stage.expect(!taken, "the account refuses the write of A");
      stage.say("account", "refuses it: it has seen a later token; it has " + account.read());
    }
    stage.expect(account.read() == 70, "what B took is not lost");
    stage.conclude("held, as told: A was told, and its late write was refused");
  }
}
