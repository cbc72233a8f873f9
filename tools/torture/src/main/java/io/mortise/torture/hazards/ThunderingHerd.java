package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testserver.RedisServer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Many processes wait for one lock. The naive ones all try at each release. */
final class ThunderingHerd implements Hazard.HazardScenario {
  private static final int WAITERS = 32;
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String LOCK = "mortise-hazard/gate";
  private static final String CHANNEL = LOCK + "/released";

  @Override
  public void play(HazardContext hazardContext) throws Exception {
    double naive = naive(hazardContext);
    double mortise = mortise(hazardContext);
    hazardContext.expect(naive > 4 * mortise, "the naive lock asks at least four times as much");
  }

  private static double naive(HazardContext hazardContext) throws Exception {
    hazardContext.chapter(
        "The naive lock: SET gate … NX, and PUBLISH when it is released; " + WAITERS + " wait");
    RedisServer server = hazardContext.redis();
    RedisConnection first = hazardContext.connect(server.port());
    hazardContext.expect(first.lock(LOCK, "first", 60_000), "the first gets the naive lock");
    AtomicInteger listening = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger before = new AtomicInteger(WAITERS); // refusals up to the last release
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      RedisConnection own = hazardContext.connect(server.port());
      RedisConnection ears = hazardContext.connect(server.port());
      Thread thread =
          new Thread(
              () -> {
                ears.call("SUBSCRIBE", CHANNEL);
                listening.incrementAndGet();
                wait(own, ears, refused);
                int left = WAITERS - served.incrementAndGet();
                // Works until the others have tried, so that scheduling does not matter.
                work(() -> refused.get() - before.get() >= left);
                before.set(refused.get());
                release(own);
              });
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    hazardContext.await("all listen", () -> listening.get() == WAITERS);
    hazardContext.await("all have tried once", () -> refused.get() == WAITERS);
    long setsBefore = first.executed("set");
    hazardContext.say("first", "releases");
    release(first);
    hazardContext.await("all were served", () -> served.get() == WAITERS);
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    long tries = first.executed("set") - setsBefore;
    double each = (double) tries / WAITERS;
    hazardContext.say(
        "server",
        String.format(
            Locale.ROOT,
            "%s were served one after the other, by %s tries: %.1f each",
            WAITERS,
            tries,
            each));
    hazardContext.conclude("a herd, as told: the work grows with the square of those who wait");
    return each;
  }

  private static void work(BooleanSupplier done) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    while (!done.getAsBoolean() && System.nanoTime() < end) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  private static void wait(RedisConnection own, RedisConnection ears, AtomicInteger refused) {
    ears.patience(1000);
    while (!own.lock(LOCK, "waiter", 60_000)) {
      refused.incrementAndGet();
      try {
        ears.receive();
      } catch (UncheckedIOException e) {
        // A message was missed: retry.
      }
    }
  }

  private static void release(RedisConnection holder) {
    holder.call("DEL", LOCK);
    holder.call("PUBLISH", CHANNEL, "");
  }

  private static double mortise(HazardContext hazardContext) throws Exception {
    hazardContext.chapter("Mortise: " + WAITERS + " processes' worth of clients wait");
    RedisServer server = hazardContext.redis();
    RedisConnection watch = hazardContext.connect(server.port());
    LockClient first = hazardContext.client(server.url(), "first", TTL);
    Lease held = first.lock(LOCK).acquire();
    List<CompletableFuture<Void>> waits = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      LockClient client = hazardContext.client(server.url(), "waiter" + i, TTL);
      waits.add(client.lock(LOCK).acquireAsync().thenCompose(Lease::releaseAsync));
    }
    hazardContext.await(
        "all wait in the queue",
        () -> first.admin().find(LOCK).map(view -> view.waiters().size()).orElse(0) == WAITERS);
    long before = watch.executed("evalsha");
    hazardContext.say("first", "releases");
    held.close();
    for (CompletableFuture<Void> wait : waits) {
      wait.get(20, TimeUnit.SECONDS);
    }
    long scripts = watch.executed("evalsha") - before;
    double each = (double) scripts / WAITERS;
    hazardContext.say(
        "server",
        String.format(
            Locale.ROOT,
            "%s were served in their order, by %s scripts: %.1f each",
            WAITERS,
            scripts,
            each));
    hazardContext.conclude("no herd, as told: a release hands over to the one whose turn it is");
    return each;
  }
}
