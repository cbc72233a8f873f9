package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;
import java.util.Optional;

/** A holder that works for longer than it said, and then releases what another holds by now. */
final class ExpiredRelease implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration AT_MOST = Duration.ofSeconds(1);
  private static final String LOCK = "mortise-hazard/report";

  @Override
  public void play(Stage stage) throws Exception {
    RedisServer server = stage.redis();
    naive(stage, server);
    mortise(stage, stage.storeOr(server.url()));
  }

  private static void naive(Stage stage, RedisServer server) {
    stage.chapter("The naive lock: SET report A NX PX 1000, released by DEL report");
    RedisConnection a = stage.connect(server.port());
    RedisConnection b = stage.connect(server.port());
    RedisConnection c = stage.connect(server.port());
    stage.expect(a.lock(LOCK, "A", AT_MOST.toMillis()), "A gets the naive lock");
    stage.say("A", "has the lock for 1 s, and works for longer");
    stage.await("the naive lock expires", () -> b.lock(LOCK, "B", 10_000));
    stage.say("B", "gets the lock, as A's time is over, and works");
    a.call("DEL", LOCK);
    stage.say("A", "is done at last, and releases \"its\" lock");
    boolean both = c.lock(LOCK, "C", 10_000);
    stage.expect(both, "C gets the naive lock while B holds it");
    stage.say("C", "gets the lock, and works at the same time as B");
    stage.conclude("broke, as told");
  }

  private static void mortise(Stage stage, String url) throws Exception {
    stage.chapter("Mortise, with an at-most time of 1 s");
    LockClient a = stage.client(url, "A", TTL);
    LockClient b = stage.client(url, "B", TTL);
    LockClient c = stage.client(url, "C", TTL);
    Lease first = a.lock(LOCK, LockOptions.DEFAULTS.withAtMost(AT_MOST)).acquire();
    stage.say("A", "has the lock for 1 s at most, and works for longer");
    try (Lease second = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      stage.say("B", "gets the lock, as A's time is over; A's isValid() is " + first.isValid());
      stage.expect(!first.isValid(), "A knows that its time is over");
      boolean told = false;
      try {
        first.close();
      } catch (LeaseLostException e) {
        told = true;
        stage.say("A", "is done at last, and its release says: " + e.getMessage());
      }
      stage.expect(told, "the release of A says that the lease was lost");
      Optional<Lease> third = c.lock(LOCK).tryAcquire();
      stage.expect(third.isEmpty(), "C does not get the lock");
      stage.expect(second.isValid(), "B keeps the lock");
      stage.say("C", "does not get the lock: B has it still");
    }
    stage.conclude("held, as told: only who was granted a lock can release it");
  }
}
