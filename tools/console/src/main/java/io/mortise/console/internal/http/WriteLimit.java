package io.mortise.console.internal.http;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends writes to clients that do not read. The writing thread is interrupted, which closes the
 * channel that it is blocked in. The JDK's server limits whole answers only, such as a complete
 * stream.
 */
final class WriteLimit {
  private final ScheduledExecutorService timer;
  private final Duration limit;

  WriteLimit(ScheduledExecutorService timer, Duration limit) {
    this.timer = timer;
    this.limit = limit;
  }

  /** Writes. */
  interface Write {
    void run() throws IOException;
  }

  void run(Write write) throws IOException {
    Watch watch = new Watch(Thread.currentThread());
    ScheduledFuture<?> alarm =
        timer.schedule(watch::expire, limit.toMillis(), TimeUnit.MILLISECONDS);
    try {
      write.run();
    } finally {
      alarm.cancel(false);
      watch.end();
    }
  }

  /** One write: after its end it is never interrupted. */
  private static final class Watch {
    private final Thread writer;
    private boolean ended;
    private boolean expired;

    Watch(Thread writer) {
      this.writer = writer;
    }

    synchronized void expire() {
      if (!ended) {
        expired = true;
        writer.interrupt();
      }
    }

    synchronized void end() {
      ended = true;
      if (expired) {
        Thread.interrupted();
      }
    }
  }
}
