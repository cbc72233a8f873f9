package io.mortise.torture.hazards;

import io.mortise.LockClient;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.SystemEnv;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A simulated host that can be suspended: the monotonic clock and the timers of its clients then
 * stand still.
 */
final class SuspendedHost {
  private final boolean tells;
  private final List<Runnable> held = new ArrayList<>();
  private long asleepSince;
  private long slept;
  private long told;
  private boolean asleep;
  private boolean holdsTimers;

  /**
   * Creates a running host.
   *
   * @param tells whether it reports the time of suspension, as Linux does
   */
  SuspendedHost(boolean tells) {
    this.tells = tells;
  }

  /** Its monotonic clock. */
  synchronized long nanos() {
    return (asleep ? asleepSince : System.nanoTime()) - slept;
  }

  private synchronized long suspended() {
    return told;
  }

  synchronized void suspend() {
    asleepSince = System.nanoTime();
    asleep = true;
  }

  /**
   * Resumes it.
   *
   * @param longer the time of suspension beyond that of the test
   */
  void wake(Duration longer) {
    wakeClock(longer);
    wakeTimers();
  }

  /** The first half of {@link #wake}: threads resume before any timer does. */
  synchronized void wakeClock(Duration longer) {
    long nanos = System.nanoTime() - asleepSince;
    slept += nanos;
    told += tells ? nanos + longer.toNanos() : 0;
    asleep = false;
    holdsTimers = true;
  }

  /** The second half. */
  void wakeTimers() {
    List<Runnable> due;
    synchronized (this) {
      holdsTimers = false;
      due = List.copyOf(held);
      held.clear();
    }
    due.forEach(Runnable::run);
  }

  /** Opens a client on this host. The caller keeps the store. */
  LockClient client(LockStore store, Duration ttl) {
    return client(store, ttl, EngineRules.ALL);
  }

  /** Like {@link #client(LockStore, Duration)}, with other rules of the engine. */
  LockClient client(LockStore store, Duration ttl, EngineRules rules) {
    SystemEnv system = new SystemEnv();
    EngineEnv env = system.env(ttl, new ClientLabel("sleeper", 1, "sleeper"));
    Ticker suspended = this::suspended;
    return new EngineClient(
        store,
        new EngineEnv(
            this::nanos,
            (delay, task) -> new HostTimer(env.timers(), delay, task),
            (delay, task) -> new HostTimer(env.renewals(), delay, task),
            env.callbacks(),
            suspended,
            env.random(),
            rules,
            env.ttl(),
            env.client()),
        system::close);
  }

  /** A timer by the host's clock. */
  private final class HostTimer implements EngineScheduler.ScheduledTimer {
    private final EngineScheduler awake;
    private final long due;
    private final Runnable task;
    private EngineScheduler.ScheduledTimer next;
    private boolean cancelled;

    HostTimer(EngineScheduler awake, long delay, Runnable task) {
      this.awake = awake;
      this.due = nanos() + Math.max(0, delay);
      this.task = task;
      schedule();
    }

    private synchronized void schedule() {
      if (!cancelled) {
        next = awake.schedule(due - nanos(), this::run);
      }
    }

    private void run() {
      synchronized (SuspendedHost.this) {
        if (asleep || holdsTimers) {
          held.add(this::schedule);
          return;
        }
      }
      if (due - nanos() > 0) {
        schedule();
      } else {
        task.run();
      }
    }

    @Override
    public synchronized void cancel() {
      cancelled = true;
      next.cancel();
    }
  }
}
