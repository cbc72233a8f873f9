package io.mortise.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has removed, about once a minute, what dead processes and idle locks left in the tables. Its
 * thread sleeps; the work is done on the store's lanes, one lock after the other, so that others
 * get their turn in between. Every process does it: what one has removed the next does not find.
 */
final class Sweeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

  /** Sessions and locks that are removed in one go. */
  static final int BUDGET = 256;

  /** It comes so many times sooner if there was more than could be done in one go. */
  private static final int SOONER = 30;

  private final String name;
  private final Duration every;
  private final AtomicBoolean started = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);

  Sweeper(String name, Duration every) {
    this.name = name;
    this.every = every;
  }

  /** Begins, unless it has begun already. */
  void start(IntFunction<CompletionStage<Integer>> sweeping) {
    if (started.compareAndSet(false, true)) {
      Thread thread = new Thread(() -> run(sweeping), name);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void run(IntFunction<CompletionStage<Integer>> sweeping) {
    // Processes that were started together do not sweep together.
    Duration pause =
        every.multipliedBy(50 + ThreadLocalRandom.current().nextInt(100)).dividedBy(100);
    try {
      while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        pause = sweep(sweeping) < BUDGET ? every : every.dividedBy(SOONER);
      }
    } catch (InterruptedException e) {
      LOG.debug("{} was interrupted, and ends", name);
    }
  }

  private int sweep(IntFunction<CompletionStage<Integer>> sweeping) {
    try {
      return sweeping.apply(BUDGET).toCompletableFuture().join();
    } catch (CompletionException e) {
      LOG.debug("{}: the database did not do it, and will be asked again", name, e);
      return 0;
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
