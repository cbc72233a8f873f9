package io.mortise.console.internal.http;

import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The threads of requests. The server of the JDK reads a request's head on one of them, and the
 * rest of its body after the answer. So an incomplete head or body blocks a thread. While all
 * threads are busy and other requests wait, the thread that has read longest, and for longer than
 * {@link #PATIENCE}, is interrupted, which closes the connection.
 */
final class RequestThreads extends ThreadPoolExecutor {
  private static final int THREADS = 16;
  private static final int MAX_QUEUED = 1024;

  /** Far longer than reading a request of a browser or proxy takes. */
  private static final Duration PATIENCE = Duration.ofMillis(100);

  private final ScheduledThreadPoolExecutor timer;
  private final Ticker ticker;

  /** The time since which a thread reads. */
  private final Map<Thread, Long> reading = new ConcurrentHashMap<>();

  private final AtomicBoolean scheduled = new AtomicBoolean();

  RequestThreads(ScheduledThreadPoolExecutor timer, Ticker ticker) {
    super(
        THREADS,
        THREADS,
        30,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(MAX_QUEUED),
        StreamThreads.daemons());
    this.timer = timer;
    this.ticker = ticker;
    allowCoreThreadTimeOut(true);
  }

  /**
   * Marks this thread as no longer reading, or reading a legitimate body: it will not be
   * interrupted.
   */
  void hasRead() {
    reading.remove(Thread.currentThread());
    // It may have just been interrupted; its connection is intact, as it did not read then.
    Thread.interrupted();
  }

  /** Marks this thread as reading: it may have to drain an unwanted body. */
  void reads() {
    reading.put(Thread.currentThread(), ticker.nanos());
  }

  @Override
  public void execute(Runnable task) {
    super.execute(task);
    cutOffSoon();
  }

  @Override
  protected void beforeExecute(Thread thread, Runnable task) {
    reads();
  }

  @Override
  protected void afterExecute(Runnable task, @Nullable Throwable thrown) {
    reading.remove(Thread.currentThread());
  }

  private void cutOffSoon() {
    if (isFull() && !timer.isShutdown() && scheduled.compareAndSet(false, true)) {
      ScheduledFuture<?> unused =
          timer.schedule(this::cutOff, PATIENCE.toNanos() / THREADS, TimeUnit.NANOSECONDS);
    }
  }

  private boolean isFull() {
    return !getQueue().isEmpty() && getActiveCount() == THREADS;
  }

  private void cutOff() {
    scheduled.set(false);
    if (!isFull()) {
      return;
    }
    long now = ticker.nanos();
    // One at a time: a legitimate request whose thread was not scheduled yet has not read for
    // longest.
    reading.entrySet().stream()
        .min(Map.Entry.comparingByValue())
        .filter(longest -> now - longest.getValue() >= PATIENCE.toNanos())
        .ifPresent(longest -> interrupt(longest.getKey(), longest.getValue()));
    cutOffSoon();
  }

  /**
   * Interrupts under the map's lock, so that a thread that has finished reading is not interrupted
   * later.
   */
  private void interrupt(Thread longest, long begun) {
    reading.computeIfPresent(
        longest,
        (busy, since) -> {
          if (since == begun) {
            busy.interrupt();
            return null;
          }
          return since;
        });
  }
}
