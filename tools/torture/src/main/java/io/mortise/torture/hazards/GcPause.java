package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.RedisServer;
import java.time.Duration;

/** A holder is paused for longer than its TTL: a long garbage collection, SIGSTOP. */
final class GcPause implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final String LOCK = "mortise-hazard/account";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    RedisServer server = hazardContext.redis();
    naive(hazardContext, server);
    hazardContext.chapter("Mortise, TTL 2 s");
    mortise(hazardContext, hazardContext.storeOr(server.url()), TTL, "; takes 30", "");
  }

  private static void naive(HazardContext hazardContext, RedisServer server) {
    hazardContext.chapter("The naive lock: SET account A NX PX 2000");
    ProtectedAccount protectedAccount = new ProtectedAccount(100);
    RedisConnection b = hazardContext.connect(server.port());
    HolderProcess a = hazardContext.open(new HolderProcess());
    hazardContext.expect(
        a.ask("naive", Integer.toString(server.port()), "2000", LOCK).equals("ok"),
        "A gets the naive lock");
    long read = protectedAccount.read();
    hazardContext.say("A", "has the lock for 2 s, reads 100, wants to take 10");
    a.stop();
    hazardContext.say(
        "A", "is stopped (SIGSTOP to process " + a.pid() + ", as a garbage collector would)");
    hazardContext.await("the naive lock expires", () -> b.lock(LOCK, "B", 10_000));
    hazardContext.say("B", "gets the lock, as its time is over; takes 30");
    protectedAccount.write(protectedAccount.read() - 30);
    b.call("DEL", LOCK);
    a.goOn();
    hazardContext.say("A", "goes on where it was: it has the lock, as far as it knows");
    protectedAccount.write(read - 10);
    hazardContext.say(
        "account",
        "has " + protectedAccount.read() + " instead of 60: what B took is lost, and nobody knows");
    hazardContext.expect(protectedAccount.read() == 90, "the write of B is lost");
    hazardContext.conclude("broke, as told");
  }

  /**
   * A process is stopped while it holds a lock of Mortise.
   *
   * @param ofToken the end of the line about the second token
   * @param ofValidity the end of the line about the first lease
   */
  static void mortise(
      HazardContext hazardContext, String url, Duration ttl, String ofToken, String ofValidity)
      throws Exception {
    ProtectedAccount protectedAccount = new ProtectedAccount(100);
    LockClient b = hazardContext.client(url, "B", ttl);
    HolderProcess a = hazardContext.open(new HolderProcess());
    long first = Long.parseLong(a.ask("mortise", url, Long.toString(ttl.toMillis()), LOCK));
    protectedAccount.write(protectedAccount.read(), first);
    long read = protectedAccount.read();
    hazardContext.say("A", "has the lock, token " + first + "; shows it to the account, reads 100");
    a.stop();
    hazardContext.say("A", "is stopped (SIGSTOP to process " + a.pid() + ")");
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(25))) {
      long second = lease.token();
      hazardContext.say("B", "gets the lock, token " + second + ofToken);
      hazardContext.expect(second > first, "the token rises");
      hazardContext.expect(
          protectedAccount.write(protectedAccount.read() - 30, second),
          "the account takes the write of B");
      a.goOn();
      boolean valid = Boolean.parseBoolean(a.ask("valid"));
      hazardContext.say(
          "A", "goes on, and asks its lease first: isValid() is " + valid + ofValidity);
      hazardContext.expect(!valid, "the lease of A is lost when it wakes up");
      boolean taken = protectedAccount.write(read - 10, first);
      hazardContext.say("A", "does not care, and writes 90 with its token");
      hazardContext.expect(!taken, "the account refuses the write of A");
      hazardContext.say(
          "account", "refuses it: it has seen a later token; it has " + protectedAccount.read());
    }
    hazardContext.expect(protectedAccount.read() == 70, "what B took is not lost");
    hazardContext.conclude("held, as told: A was told, and its late write was refused");
  }
}
