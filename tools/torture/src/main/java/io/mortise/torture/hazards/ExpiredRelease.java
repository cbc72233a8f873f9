package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.testserver.RedisServer;
import java.time.Duration;
import java.util.Optional;

/**
 * A holder works for longer than its TTL, then releases a lock that another process holds by now.
 */
final class ExpiredRelease implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration AT_MOST = Duration.ofSeconds(1);
  private static final String LOCK = "mortise-hazard/report";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    RedisServer server = hazardContext.redis();
    naive(hazardContext, server);
    mortise(hazardContext, hazardContext.storeOr(server.url()));
  }

  private static void naive(HazardContext hazardContext, RedisServer server) {
    hazardContext.chapter("The naive lock: SET report A NX PX 1000, released by DEL report");
    RedisConnection a = hazardContext.connect(server.port());
    RedisConnection b = hazardContext.connect(server.port());
    RedisConnection c = hazardContext.connect(server.port());
    hazardContext.expect(a.lock(LOCK, "A", AT_MOST.toMillis()), "A gets the naive lock");
    hazardContext.say("A", "has the lock for 1 s, and works for longer");
    hazardContext.await("the naive lock expires", () -> b.lock(LOCK, "B", 10_000));
    hazardContext.say("B", "gets the lock, as A's time is over, and works");
    a.call("DEL", LOCK);
    hazardContext.say("A", "is done at last, and releases \"its\" lock");
    boolean both = c.lock(LOCK, "C", 10_000);
    hazardContext.expect(both, "C gets the naive lock while B holds it");
    hazardContext.say("C", "gets the lock, and works at the same time as B");
    hazardContext.conclude("broke, as told");
  }

  private static void mortise(HazardContext hazardContext, String url) throws Exception {
    hazardContext.chapter("Mortise, with an at-most time of 1 s");
    LockClient a = hazardContext.client(url, "A", TTL);
    LockClient b = hazardContext.client(url, "B", TTL);
    LockClient c = hazardContext.client(url, "C", TTL);
    Lease first = a.lock(LOCK, LockOptions.DEFAULTS.withAtMost(AT_MOST)).acquire();
    hazardContext.say("A", "has the lock for 1 s at most, and works for longer");
    try (Lease second = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      hazardContext.say(
          "B", "gets the lock, as A's time is over; A's isValid() is " + first.isValid());
      hazardContext.expect(!first.isValid(), "A knows that its time is over");
      boolean told = false;
      try {
        first.close();
      } catch (LeaseLostException e) {
        told = true;
        hazardContext.say("A", "is done at last, and its release says: " + e.getMessage());
      }
      hazardContext.expect(told, "the release of A says that the lease was lost");
      Optional<Lease> third = c.lock(LOCK).tryAcquire();
      hazardContext.expect(third.isEmpty(), "C does not get the lock");
      hazardContext.expect(second.isValid(), "B keeps the lock");
      hazardContext.say("C", "does not get the lock: B has it still");
    }
    hazardContext.conclude("held, as told: only who was granted a lock can release it");
  }
}
