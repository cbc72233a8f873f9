package io.mortise.testkit.sim;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** Somebody in a process who acquires, works, and releases, again and again. */
final class Actor {
  private final World world;
  private final Settings settings;
  private final Judge judge;
  private final Life life;
  private final String name;
  private final List<SimLock> locks;
  private final SplittableRandom random;
  private int left;
  private int count;
  private String attempt;
  private SimLock lock;
  private SimLock.Way way;
  private CompletableFuture<Lease> asked;
  private Lease held;
  private boolean retired;

  /** Between the decision to acquire and the end of what came of it. */
  private boolean busy;

  Actor(World world, Settings settings, Judge judge, Life life, String name, List<SimLock> locks) {
    this.world = world;
    this.settings = settings;
    this.judge = judge;
    this.life = life;
    this.name = name;
    this.locks = locks;
    this.random = world.random();
  }

  /** So many more acquires. */
  void work(int acquires) {
    left += acquires;
    if (!busy) {
      next();
    }
  }

  Life life() {
    return life;
  }

  boolean isIdle() {
    return !busy;
  }

  private void next() {
    asked = null;
    held = null;
    if (left > 0 && !retired && !life.closed) {
      left--;
      busy = true;
      later(random.nextInt(4) == 0 ? settings.ttl / 2 : settings.think, this::acquire);
    } else {
      left = 0;
      busy = false;
    }
  }

  private void later(long most, Runnable action) {
    world.at(world.now() + random.nextLong(most), life, action);
  }

  private void acquire() {
    if (retired || life.closed) {
      next();
      return;
    }
    lock = locks.get(random.nextInt(locks.size()));
    way = lock.way(random);
    String mine = name + "." + ++count;
    attempt = mine;
    int style = random.nextInt(6);
    boolean once = style == 0;
    judge.asked(life, mine, lock, way, once);
    var handle = lock.handle(life.client, way);
    CompletableFuture<Lease> future;
    if (style <= 1) {
      future = handle.acquireAsync(Duration.ofNanos(once ? 0 : patience()));
    } else {
      future = handle.acquireAsync();
      if (style == 2) {
        later(
            patience(),
            () -> {
              if (!future.isDone()) {
                judge.gaveUp(life, mine);
                future.cancel(false);
              }
            });
      }
    }
    asked = future;
    var unused =
        future.whenComplete(
            (lease, failure) -> {
              asked = null;
              if (lease == null) {
                judge.failed(life, mine, failure);
                next();
              } else {
                work(mine, lease);
              }
            });
  }

  private long patience() {
    return random.nextInt(3) == 0 ? settings.ttl : settings.hold * 2;
  }

  private void work(String mine, Lease lease) {
    held = lease;
    try {
      life.believe(mine, lease);
    } catch (LeaseLostException e) {
      judge.lost(life, mine);
      release(mine, lease);
      return;
    }
    lease.onLost(
        loss -> {
          judge.lost(life, mine);
          life.disbelieve(mine);
          if (String.valueOf(loss.getMessage()).contains("not renewed within")) {
            life.checkTried(mine, lease);
          }
        });
    judge.write(life, mine);
    if (random.nextInt(3) == 0) {
      later(settings.hold, () -> change(mine, lease));
    }
    long most = random.nextInt(8) == 0 ? settings.ttl * 3 / 2 : settings.hold;
    later(
        most,
        () -> {
          if (held == lease) {
            if (lease.isValid()) {
              judge.write(life, mine);
            }
            release(mine, lease);
          }
        });
  }

  /** Changes a hold, as its kind of lock allows. */
  private void change(String mine, Lease lease) {
    if (held != lease || !lease.isValid()) {
      return;
    }
    CompletableFuture<Void> changed = null;
    if (lock.kind == SimLock.Kind.TIMED && random.nextInt(3) == 0) {
      long atLeast = random.nextLong(World.MILLI, settings.ttl / 4);
      judge.note(() -> mine + " keeps it shut for " + atLeast / 1e6 + " ms");
      judge.keepsShut(mine, world.now() + settings.maxInFlight + atLeast + atLeast / 500);
      changed = life.client.engine().keepShutAsync(lease, Duration.ofNanos(atLeast));
    } else if (lock.kind == SimLock.Kind.TIMED) {
      long atMost = random.nextLong(5 * World.MILLI, settings.ttl);
      judge.note(() -> mine + " extends to " + atMost / 1e6 + " ms");
      changed = life.client.engine().extendAsync(lease, Duration.ofNanos(atMost));
      if (random.nextBoolean()) {
        later(settings.hold, () -> change(mine, lease));
      }
    } else if (lock.kind == SimLock.Kind.READ_WRITE && way.write()) {
      judge.narrowed(mine);
      changed = life.client.engine().downgradeAsync(lease);
    }
    if (changed != null) {
      var unused =
          changed.whenComplete(
              (done, failure) -> judge.note(() -> mine + " has changed it, trouble: " + failure));
    }
  }

  private void release(String mine, Lease lease) {
    judge.released(life, mine);
    life.disbelieve(mine);
    held = null;
    var unused =
        lease
            .releaseAsync()
            .whenComplete((done, failure) -> judge.releaseAnswered(life, mine, failure));
    next();
  }

  /** Ends its waits and holds now, and begins no more. */
  void retire() {
    retired = true;
    left = 0;
    CompletableFuture<Lease> waiting = asked;
    if (waiting != null) {
      judge.gaveUp(life, attempt);
      waiting.cancel(false);
    }
    Lease holding = held;
    if (holding != null) {
      release(attempt, holding);
    }
  }
}
