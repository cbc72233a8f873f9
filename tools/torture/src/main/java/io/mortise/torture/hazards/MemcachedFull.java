package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import java.time.Duration;

/** A full memcached without eviction: a contender's refused request deletes a lock. */
final class MemcachedFull implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final String LOCK = "report";

  private static final int LENGTH = 40;
  private static final int LONGEST = 400;

  private static final String TAKING = "ms report 40 T60 ME\r\n";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    naive(hazardContext, hazardContext.memcached());
    mortise(hazardContext, hazardContext.memcached());
  }

  private static String taking(char holder) {
    return TAKING + String.valueOf(holder).repeat(LENGTH);
  }

  /**
   * Fills memory of all item sizes, as each size has its own, and a lock's size differs from host
   * to host.
   */
  private static void fill(RawMemcachedConnection cache) {
    for (int length = LENGTH; length <= LONGEST; length += LENGTH / 2) {
      cache.fill(length);
    }
  }

  private static void naive(HazardContext hazardContext, MemcachedServer server) {
    hazardContext.chapter(
        "The naive lock: ms report 40 T60 ME, which adds an item if there is none");
    RawMemcachedConnection a = hazardContext.connect(server);
    RawMemcachedConnection b = hazardContext.connect(server);
    hazardContext.expect(a.ask(taking('A')).startsWith("HD"), "A gets the naive lock");
    hazardContext.say("A", "has the lock, and works");
    fill(b);
    hazardContext.say("cache", "fills the memory; the server evicts nothing");
    String refusal = b.ask(taking('B'));
    hazardContext.expect(refusal.startsWith("SERVER_ERROR"), "B is refused, as there is no memory");
    hazardContext.say("B", "wants the lock, and hears: " + refusal);
    hazardContext.expect(a.left(LOCK) < 0, "the lock of A is gone");
    hazardContext.say("server", "has deleted A's lock with that");
    hazardContext.expect(b.ask(taking('B')).startsWith("HD"), "B gets the lock that A holds");
    hazardContext.say("B", "asks again, gets the lock, and works at the same time as A");
    hazardContext.conclude("broke, as told");
  }

  private static void mortise(HazardContext hazardContext, MemcachedServer server)
      throws Exception {
    hazardContext.chapter("Mortise, which adds by another command");
    LockClient a = hazardContext.client(server.url(), "A", TTL);
    LockClient b = hazardContext.client(server.url(), "B", TTL);
    try (Lease lease = a.lock(LOCK).acquire()) {
      hazardContext.say("A", "has the lock, and works");
      fill(hazardContext.connect(server));
      hazardContext.say("cache", "fills the memory; the server evicts nothing");
      for (int i = 0; i < 3; i++) {
        hazardContext.expect(b.lock(LOCK).tryAcquire().isEmpty(), "B does not get the lock");
      }
      hazardContext.say("B", "wants the lock three times, and does not get it");
      hazardContext.expect(lease.isValid(), "A keeps the lock");
      hazardContext.expect(b.admin().find(LOCK).isPresent(), "the server has the lock");
    }
    hazardContext.say("A", "has the lock still, and releases it");
    try (Lease next = b.lock(LOCK).acquireWithin(TTL)) {
      hazardContext.expect(next.isValid(), "B gets the lock after A");
      hazardContext.say("B", "gets the lock after A");
    }
    hazardContext.conclude("held, as told: a refused request changes nothing");
  }
}
