package io.mortise.internal.client;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler.ScheduledTimer;
import io.mortise.spi.LockStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps the store while the client is open: removes leftovers of dead processes and idle locks,
 * once a minute, or in a store of many parts one part after the other, so that each is swept within
 * ten minutes. While more is left than a sweep may remove, it sweeps for a fifth of the time. An
 * acquire removes by itself the dead holders that block it; this is for locks that are no longer
 * used.
 */
final class SweepScheduler {
  private static final Logger log = LoggerFactory.getLogger(SweepScheduler.class);

  /** Sessions and locks removed in one sweep, so that other work runs in between. */
  static final int BUDGET = 256;

  private static final long EVERY = TimeUnit.MINUTES.toNanos(1);
  private static final long ROUND = TimeUnit.MINUTES.toNanos(10);

  /** The pause after a sweep that used up its budget, in multiples of its duration. */
  private static final int PAUSE_SHARES = 4;

  private static final long LEAST_PAUSE = TimeUnit.MILLISECONDS.toNanos(200);

  private final int parts;
  private final IntFunction<LockStore> part;
  private final EngineEnv env;
  private final long pause;
  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable ScheduledTimer scheduledTimer;
  private boolean stopped;
  private int next;

  /**
   * @param parts the number of parts; one for a store without parts
   * @param part returns a part
   */
  SweepScheduler(int parts, IntFunction<LockStore> part, EngineEnv env) {
    this.parts = parts;
    this.part = part;
    this.env = env;
    this.pause = Math.min(EVERY, ROUND / parts);
  }

  /** Begins, unless it has begun already. */
  void start() {
    guard.lock();
    try {
      if (scheduledTimer == null) {
        next = env.random().nextInt(parts);
        // Spreads the sweeps of processes that were started together.
        schedule(pause / 2 + (long) (pause * env.random().nextDouble()), this::ask);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Ends; the result of a sweep in flight is dropped. */
  void stop() {
    guard.lock();
    try {
      stopped = true;
      if (scheduledTimer != null) {
        scheduledTimer.cancel();
      }
    } finally {
      guard.unlock();
    }
  }

  private void schedule(long delay, Runnable task) {
    guard.lock();
    try {
      if (!stopped) {
        scheduledTimer = env.timers().schedule(delay, task);
      }
    } finally {
      guard.unlock();
    }
  }

  private void ask() {
    LockStore store = part.apply(next);
    next = (next + 1) % parts;
    long began = env.ticker().nanos();
    CompletionStages.start(store::claimSweep)
        .thenCompose(ours -> ours ? swept(store) : CompletableFuture.completedFuture(0))
        .whenComplete((removed, failure) -> goOn(store, began, removed, failure));
  }

  private void again(LockStore store) {
    long began = env.ticker().nanos();
    swept(store).whenComplete((removed, failure) -> goOn(store, began, removed, failure));
  }

  private static CompletionStage<Integer> swept(LockStore store) {
    return CompletionStages.start(() -> store.sweep(BUDGET));
  }

  private void goOn(
      LockStore store, long began, @Nullable Integer removed, @Nullable Throwable failure) {
    if (failure != null) {
      log.debug("Store {} was not swept, and will be asked again.", store, failure);
    }
    if (removed != null && removed >= BUDGET) {
      long took = env.ticker().nanos() - began;
      long rest = Math.min(EVERY, Math.max(LEAST_PAUSE, PAUSE_SHARES * took));
      schedule(rest, () -> again(store));
    } else {
      schedule(env.jittered(pause), this::ask);
    }
  }
}
