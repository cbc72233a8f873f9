package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * A server, or the way to it, that stands still: what was sent arrives when its sender has gone.
 */
final class LateCommand implements Hazard.Story {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final String LOCK = "mortise-hazard/import";
  private static final int PATIENCE_MILLIS = 500;

  @Override
  public void play(Stage stage) throws Exception {
    naive(stage);
    mortise(stage);
  }

  private static void naive(Stage stage) throws IOException {
    stage.chapter("The naive lock: SET import A NX PX 30000, given up after 0.5 s");
    RedisServer server = stage.redis();
    RedisConnection a = stage.connect(server.port());
    RedisConnection b = stage.connect(server.port());
    a.patience(PATIENCE_MILLIS);
    server.pause();
    stage.say("server", "stands still (SIGSTOP); its connections stay open");
    boolean answered = true;
    try {
      a.lock(LOCK, "A", 30_000);
    } catch (UncheckedIOException e) {
      answered = false;
    }
    stage.expect(!answered, "A is not answered");
    a.close();
    stage.say("A", "asks for the lock, is not answered, gives up and tells its user so");
    server.resume();
    stage.say("server", "goes on, and reads what A had sent");
    stage.await("the late command is executed", () -> "A".equals(b.call("GET", LOCK)));
    stage.expect(!b.lock(LOCK, "B", 30_000), "B does not get the lock");
    Object left = b.call("PTTL", LOCK);
    stage.say("B", "does not get the lock for another " + left + " ms: A has it, who has gone");
    stage.conclude("broke, as told: locked for nobody");
  }

  private static void mortise(Stage stage) throws Exception {
    stage.chapter("Mortise, timeout 0.5 s");
    RedisServer server = stage.redis();
    String url = server.url() + "?timeout=" + PATIENCE_MILLIS + "ms";
    LockClient a = stage.client(url, "A", TTL);
    LockClient b = stage.client(url, "B", TTL);
    a.lock("mortise-hazard/warm-up").acquire().close();
    b.lock("mortise-hazard/warm-up").acquire().close();
    server.pause();
    stage.say("server", "stands still (SIGSTOP); its connections stay open");
    boolean told = false;
    try {
      a.lock(LOCK).tryAcquire();
    } catch (StoreUnavailableException e) {
      told = true;
      stage.say("A", "asks for the lock, and is told: " + e.getMessage());
    }
    stage.expect(told, "A is told that the store does not answer");
    server.resume();
    stage.say("server", "goes on, and reads what A had sent: too late, it grants nothing");
    double since = stage.seconds();
    try (Lease lease = b.lock(LOCK).acquireWithin(Duration.ofSeconds(20))) {
      double took = stage.seconds() - since;
      stage.say("B", "gets the lock, token " + lease.token());
      stage.expect(took < TTL.toSeconds(), "B does not wait for a TTL");
    }
    stage.conclude("held, as told: a request that comes too late is not executed");
  }
}
