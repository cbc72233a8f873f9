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
 * Has the store remove, for as long as the client is open, what dead processes and idle locks left:
 * once a minute, or where there are many parts one part after the other, so that each has its turn
 * within ten minutes. While there is more than a sweep may remove, it goes on for a fifth of the
 * time. An acquire removes by itself what is in its way; this is for locks that nobody wants any
 * more.
 */
final class SweepScheduler {
  private static final Logger log = LoggerFactory.getLogger(SweepScheduler.class);

  /** Sessions and locks that are removed in one go, so that others get their turn in between. */
  static final int BUDGET = 256;

  private static final long EVERY = TimeUnit.MINUTES.toNanos(1);
  private static final long ROUND = TimeUnit.MINUTES.toNanos(10);

  /** After a sweep that had more to remove than it might: so many times as long as that took. */
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
   * @param parts how many there are; one for a store that has none
   * @param part one of them
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
        // Processes that were started together do not sweep together.
        schedule(pause / 2 + (long) (pause * env.random().nextDouble()), this::ask);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Ends; a sweep under way is answered to nobody. */
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
