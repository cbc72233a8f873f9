package io.mortise.simulation;

import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** A worker in a process that repeatedly acquires, works and releases. */
final class SimWorker {
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final SimSettings settings;
  private final InvariantChecker invariantChecker;
  private final SimProcess simProcess;
  private final String name;
  private final List<SimLock> locks;
  private final SplittableRandom random;
  private int left;
  private int count;
  private String attempt;
  private SimLock lock;
  private SimLock.LockUsage lockUsage;
  private CompletableFuture<Lease> asked;
  private Lease held;
  private boolean retired;

  /** Whether it is between the decision to acquire and the end of the resulting hold. */
  private boolean busy;

  SimWorker(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      InvariantChecker invariantChecker,
      SimProcess simProcess,
      String name,
      List<SimLock> locks) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.settings = settings;
    this.invariantChecker = invariantChecker;
    this.simProcess = simProcess;
    this.name = name;
    this.locks = locks;
    this.random = virtualTimeScheduler.random();
  }

  /** Adds acquires to its work. */
  void work(int acquires) {
    left += acquires;
    if (!busy) {
      next();
    }
  }

  SimProcess life() {
    return simProcess;
  }

  boolean isIdle() {
    return !busy;
  }

  private void next() {
    asked = null;
    held = null;
    if (left > 0 && !retired && !simProcess.closed) {
      left--;
      busy = true;
      later(random.nextInt(4) == 0 ? settings.ttl / 2 : settings.think, this::acquire);
    } else {
      left = 0;
      busy = false;
    }
  }

  private void later(long most, Runnable action) {
    virtualTimeScheduler.at(virtualTimeScheduler.now() + random.nextLong(most), simProcess, action);
  }

  private void acquire() {
    if (retired || simProcess.closed) {
      next();
      return;
    }
    lock = locks.get(random.nextInt(locks.size()));
    lockUsage = lock.way(random);
    String mine = name + "." + ++count;
    attempt = mine;
    int style = random.nextInt(6);
    boolean once = style == 0;
    invariantChecker.asked(simProcess, mine, lock, lockUsage, once);
    var handle = lock.handle(simProcess.client, lockUsage);
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
                invariantChecker.gaveUp(simProcess, mine);
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
                invariantChecker.failed(simProcess, mine, failure);
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
      simProcess.believe(mine, lease);
    } catch (LeaseLostException | LeaseInDoubtException e) {
      invariantChecker.lost(simProcess, mine);
      release(mine, lease);
      return;
    }
    lease.onLost(
        loss -> {
          invariantChecker.lost(simProcess, mine);
          simProcess.disbelieve(mine);
          if (String.valueOf(loss.getMessage()).contains("not renewed within")) {
            simProcess.checkTried(mine, lease);
          }
        });
    invariantChecker.write(simProcess, mine);
    if (random.nextInt(3) == 0) {
      later(settings.hold, () -> change(mine, lease));
    }
    long most = random.nextInt(8) == 0 ? settings.ttl * 3 / 2 : settings.hold;
    later(
        most,
        () -> {
          if (held == lease) {
            if (lease.isValid()) {
              invariantChecker.write(simProcess, mine);
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
      long atLeast = random.nextLong(VirtualTimeScheduler.MILLI, settings.ttl / 4);
      invariantChecker.note(() -> mine + " keeps it shut for " + atLeast / 1e6 + " ms");
      invariantChecker.keepsShut(
          mine, virtualTimeScheduler.now() + settings.maxInFlight + atLeast + atLeast / 500);
      changed = simProcess.client.engine().keepShutAsync(lease, Duration.ofNanos(atLeast));
    } else if (lock.kind == SimLock.Kind.TIMED) {
      long atMost = random.nextLong(5 * VirtualTimeScheduler.MILLI, settings.ttl);
      invariantChecker.note(() -> mine + " extends to " + atMost / 1e6 + " ms");
      changed = simProcess.client.engine().extendAsync(lease, Duration.ofNanos(atMost));
      if (random.nextBoolean()) {
        later(settings.hold, () -> change(mine, lease));
      }
    } else if (lock.kind == SimLock.Kind.READ_WRITE && lockUsage.write()) {
      invariantChecker.narrowed(mine);
      changed = simProcess.client.engine().downgradeAsync(lease);
    }
    if (changed != null) {
      var unused =
          changed.whenComplete(
              (done, failure) ->
                  invariantChecker.note(() -> mine + " has changed it, trouble: " + failure));
    }
  }

  private void release(String mine, Lease lease) {
    invariantChecker.released(simProcess, mine);
    simProcess.disbelieve(mine);
    held = null;
    var unused =
        lease
            .releaseAsync()
            .whenComplete(
                (done, failure) -> invariantChecker.releaseAnswered(simProcess, mine, failure));
    next();
  }

  /** Ends its waits and holds now, and starts no more. */
  void retire() {
    retired = true;
    left = 0;
    CompletableFuture<Lease> waiting = asked;
    if (waiting != null) {
      invariantChecker.gaveUp(simProcess, attempt);
      waiting.cancel(false);
    }
    Lease holding = held;
    if (holding != null) {
      release(attempt, holding);
    }
  }
}
