package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.time.DurationText;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/** A paused server, or network: a command arrives after its sender is gone. */
final class DelayedCommand implements Hazard.HazardScenario {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final String LOCK = "mortise-hazard/import";
  private static final int PATIENCE_MILLIS = 500;

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    naive(hazardContext);
    mortise(hazardContext);
  }

  private static void naive(HazardContext hazardContext) throws IOException {
    hazardContext.chapter("The naive lock: SET import A NX PX 30000, given up after 0.5 s");
    RedisServer server = hazardContext.redis();
    RedisConnection a = hazardContext.connect(server.port());
    RedisConnection b = hazardContext.connect(server.port());
    a.patience(PATIENCE_MILLIS);
    server.pause();
    hazardContext.say("server", "stands still (SIGSTOP); its connections stay open");
    boolean answered = true;
    try {
      a.lock(LOCK, "A", 30_000);
    } catch (UncheckedIOException e) {
      answered = false;
    }
    hazardContext.expect(!answered, "A is not answered");
    a.close();
    hazardContext.say("A", "asks for the lock, is not answered, gives up and tells its user so");
    server.resume();
    hazardContext.say("server", "goes on, and reads what A had sent");
    hazardContext.await("the late command is executed", () -> "A".equals(b.call("GET", LOCK)));
    hazardContext.expect(!b.lock(LOCK, "B", 30_000), "B does not get the lock");
    Duration left = Duration.ofMillis(Long.parseLong(String.valueOf(b.call("PTTL", LOCK))));
    hazardContext.say(
        "B",
        "does not get the lock for another "
            + DurationText.format(left)
            + ": A has it, who has gone");
    hazardContext.conclude("broke, as told: locked for nobody");
  }

  private static void mortise(HazardContext hazardContext) throws Exception {
    hazardContext.chapter("Mortise, timeout 0.5 s");
    RedisServer server = hazardContext.redis();
    String url = server.url() + "?timeout=" + PATIENCE_MILLIS + "ms";
    LockClient a = hazardContext.client(url, "A", TTL);
    LockClient b = hazardContext.client(url, "B", TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    b.lock("mortise-hazard/warm-up").acquire().close();
    server.pause();
    hazardContext.say("server", "stands still (SIGSTOP); its connections stay open");
    boolean told = false;
    try {
      a.lock(LOCK).tryAcquire();
    } catch (StoreUnavailableException e) {
      told = true;
      hazardContext.say("A", "asks for the lock, and is told: " + e.getMessage());
    }
    hazardContext.expect(told, "A is told that the store does not answer");
    server.resume();
    hazardContext.say("server", "goes on, and reads what A had sent: too late, it grants nothing");
    double since = hazardContext.seconds();
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      double took = hazardContext.seconds() - since;
      hazardContext.say("B", "gets the lock, token " + lease.token());
      hazardContext.expect(took < TTL.toSeconds(), "B does not wait for a TTL");
    }
    hazardContext.conclude("held, as told: a request that comes too late is not executed");
  }
}
