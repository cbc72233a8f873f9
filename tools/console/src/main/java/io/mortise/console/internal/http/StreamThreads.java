package io.mortise.console.internal.http;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Streams to clients, each on its own thread, up to a limit. Thread-safe. */
final class StreamThreads implements AutoCloseable {
  static final int MOST = 32;

  private static final Logger log = LoggerFactory.getLogger(StreamThreads.class);
  private static final Duration WRITE_LIMIT = Duration.ofSeconds(10);

  private final Semaphore free = new Semaphore(MOST);
  private final Set<Thread> running = ConcurrentHashMap.newKeySet();
  private final ThreadFactory threads = daemons();
  private final ScheduledThreadPoolExecutor timer;
  private final WriteLimit writeLimit;
  private volatile boolean closed;

  StreamThreads() {
    this.timer = new ScheduledThreadPoolExecutor(1, threads);
    timer.setRemoveOnCancelPolicy(true);
    this.writeLimit = new WriteLimit(timer, WRITE_LIMIT);
  }

  /** Writes to one client until it disconnects. */
  interface Stream {
    void write() throws IOException, InterruptedException;
  }

  /** A timer for delays other than those of streams. */
  ScheduledThreadPoolExecutor timer() {
    return timer;
  }

  WriteLimit writeLimit() {
    return writeLimit;
  }

  /**
   * Runs a stream on a new thread; returns false, without effect, if there are too many or the
   * console ends.
   */
  boolean start(Stream stream) {
    if (closed || !free.tryAcquire()) {
      return false;
    }
    Thread thread =
        threads.newThread(
            () -> {
              try {
                stream.write();
              } catch (IOException e) {
                log.debug("A stream of the console has ended.", e);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (RuntimeException e) {
                if (closed) {
                  log.debug("A stream has ended with the console.", e);
                } else {
                  log.warn("A stream of the console failed.", e);
                }
              } finally {
                running.remove(Thread.currentThread());
                free.release();
              }
            });
    running.add(thread);
    thread.start();
    if (closed) {
      thread.interrupt();
    }
    return true;
  }

  /** The number of streams. */
  int open() {
    return running.size();
  }

  /** The answer if {@link #start} returned false. */
  ConsoleResponse refusal() {
    return ConsoleResponse.error(
        closed
            ? new RefusedException(503, "closed", "The console is about to end.", "")
            : RefusedException.busy(
                MOST + " streams are open already.", "Close tabs of the console."));
  }

  /** Ends all streams and refuses new ones. */
  @Override
  public void close() {
    closed = true;
    running.forEach(Thread::interrupt);
    timer.shutdownNow();
  }

  static ThreadFactory daemons() {
    AtomicInteger count = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, "mortise-console-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }
}
