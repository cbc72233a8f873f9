package io.mortise.cli;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.cli.child.RunEvent;
import io.mortise.cli.output.LockFormatter;
import io.mortise.cli.output.Terminal;
import io.mortise.spi.time.DurationText;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits for a lock, until it is had, its time is over or a signal comes. For one thread. */
final class LockWait {
  /** A lock that is had sooner is not worth a word. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private final LockClient client;
  private final DistributedLock lock;
  private final @Nullable Duration wait;
  private final BlockingQueue<RunEvent> runEvents;

  /** With how long to wait; null for ever. */
  LockWait(
      LockClient client,
      DistributedLock lock,
      @Nullable Duration wait,
      BlockingQueue<RunEvent> runEvents) {
    this.client = client;
    this.lock = lock;
    this.wait = wait;
    this.runEvents = runEvents;
  }

  /**
   * Waits for the lock. Blocks.
   *
   * @param out where to say that it waits, if that is a terminal; null for nowhere
   * @throws CliException if it could not be had in time, or a signal came; nothing is left behind
   */
  Lease acquire(@Nullable PrintStream out) throws InterruptedException {
    if (wait != null && wait.isZero()) {
      return lock.tryAcquire().orElseThrow(() -> notHad(null));
    }
    CompletableFuture<Lease> attempt = wait == null ? lock.acquireAsync() : lock.acquireAsync(wait);
    var told =
        attempt.whenComplete((lease, failure) -> runEvents.add(new RunEvent.AcquireCompleted()));
    RunEvent runEvent = null;
    if (out != null && Terminal.STDERR.isPresent()) {
      runEvent = runEvents.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (runEvent == null) {
        out.println("mortise: waiting for lock '" + lock.name() + "'" + situation());
      }
    }
    if (runEvent == null) {
      runEvent = runEvents.take();
    }
    if (runEvent instanceof RunEvent.SignalReceived signal) {
      giveUp(attempt);
      throw new CliException(ExitStatus.bySignal(signal.number()), "");
    }
    try {
      return told.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof LockTimeoutException timeout) {
        throw notHad(timeout);
      }
      if (e.getCause() instanceof LockException trouble) {
        throw trouble;
      }
      throw e;
    }
  }

  private static void giveUp(CompletableFuture<Lease> attempt) {
    if (!attempt.cancel(true) && !attempt.isCompletedExceptionally()) {
      attempt.join().close(); // granted a moment ago
    }
  }

  private CliException notHad(@Nullable LockTimeoutException timeout) {
    String message =
        "Lock '"
            + lock.name()
            + "' was not had"
            + (timeout == null ? "" : " within " + (wait == null ? "" : DurationText.format(wait)))
            + situation()
            + " Try later, or give a longer --wait.";
    return timeout == null
        ? new CliException(ExitStatus.NOT_HAD, message)
        : new CliException(ExitStatus.NOT_HAD, message, timeout);
  }

  /** Who is in the way, to be set behind a clause. */
  private String situation() {
    try {
      Optional<LockInfo> view = client.admin().find(lock.name());
      return view.map(LockFormatter::situation).orElse(".");
    } catch (StoreUnavailableException e) {
      return ": the store does not answer.";
    }
  }
}
