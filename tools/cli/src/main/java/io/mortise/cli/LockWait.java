package io.mortise.cli;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.child.RunEvent;
import io.mortise.cli.output.Terminal;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Waits for a lock until it is granted, the time is over or a signal arrives. For one thread. */
final class LockWait {
  /** Shorter waits are not reported. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** The time between the first two lines; each further pause is twice as long. */
  private static final Duration UPDATE = Duration.ofSeconds(5);

  private static final Duration RAREST = Duration.ofMinutes(1);

  /** The time between two tries for the lock of a holder that looks dead. */
  private static final Duration TRY = Duration.ofMillis(200);

  private final LockClient client;
  private final DistributedLock lock;
  private final @Nullable Duration wait;
  private final BlockingQueue<RunEvent> runEvents;

  /** Creates a wait with its timeout; null for ever. */
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
   * @param out for progress, if it is a terminal; null for none
   * @throws CliException if it was not granted in time, or a signal arrived; no hold or waiter is
   *     left
   */
  Lease acquire(@Nullable PrintStream out) throws InterruptedException {
    if (wait != null && wait.isZero()) {
      Optional<Lease> tried = lock.tryAcquire();
      return (tried.isPresent() ? tried : triedAgain()).orElseThrow(() -> notHad(null));
    }
    CompletableFuture<Lease> attempt = wait == null ? lock.acquireAsync() : lock.acquireAsync(wait);
    var told =
        attempt.whenComplete((lease, failure) -> runEvents.add(new RunEvent.AcquireCompleted()));
    RunEvent runEvent = null;
    if (out != null && Terminal.STDERR.isPresent()) {
      Duration pause = PATIENCE;
      String before = "";
      while ((runEvent = runEvents.poll(pause.toMillis(), TimeUnit.MILLISECONDS)) == null) {
        String now = placeAndSituation();
        if (!now.equals(before)) {
          out.println(
              "mortise: waiting for lock '" + OutputSanitizer.text(lock.name()) + "'" + now);
        }
        before = now;
        pause = pause.equals(PATIENCE) ? UPDATE : Supervisor.min(pause.multipliedBy(2), RAREST);
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
        return triedAgain().orElseThrow(() -> notHad(timeout));
      }
      if (e.getCause() instanceof LockException trouble) {
        throw trouble;
      }
      throw e;
    }
  }

  /**
   * Watches a holder that looks dead until it can be judged, and tries again. A clockless store
   * lets a process judge a holder only after watching it for its TTL; the next command would begin
   * anew. Ends as soon as another holds the lock, so that one command of many has it.
   */
  private Optional<Lease> triedAgain() throws InterruptedException {
    Optional<LockParticipant> silent = holder(LockFormatter::isSilent);
    long end =
        System.nanoTime()
            + silent
                .map(LockParticipant::sessionTtl)
                .orElse(Duration.ZERO)
                .multipliedBy(2)
                .toNanos();
    while (silent.isPresent() && System.nanoTime() - end < 0) {
      if (runEvents.poll(TRY.toNanos(), TimeUnit.NANOSECONDS)
          instanceof RunEvent.SignalReceived signal) {
        throw new CliException(ExitStatus.bySignal(signal.number()), "");
      }
      // Once this process has judged it, it looks gone.
      Optional<LockParticipant> now =
          holder(holder -> LockFormatter.isSilent(holder) || holder.isGone());
      if (!now.map(LockParticipant::attempt).equals(silent.map(LockParticipant::attempt))) {
        return Optional.empty();
      }
      Optional<Lease> lease = lock.tryAcquire();
      if (lease.isPresent()) {
        return lease;
      }
    }
    return Optional.empty();
  }

  private Optional<LockParticipant> holder(Predicate<LockParticipant> which) {
    try {
      return client.admin().find(lock.name()).stream()
          .flatMap(found -> found.holders().stream())
          .filter(which)
          .findFirst();
    } catch (StoreUnavailableException e) {
      return Optional.empty(); // as the message tells
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

  /** Our own place in the queue, and the holders and waiters ahead, to be appended to a clause. */
  private String placeAndSituation() {
    try {
      Optional<LockInfo> view = client.admin().find(lock.name());
      return view.map(found -> place(found, host())).orElse("")
          + view.map(LockFormatter::situation).orElse(".");
    } catch (StoreUnavailableException e) {
      return ": the store does not answer.";
    }
  }

  /**
   * Our place in the queue; empty if unknown: containers may share a host name, and have equal
   * process ids.
   */
  static String place(LockInfo view, String host) {
    String place = "";
    for (int i = 0; i < view.waiters().size(); i++) {
      LockParticipant.ClientInfo waiter = view.waiters().get(i).client();
      if (waiter != null
          && waiter.pid() == ProcessHandle.current().pid()
          && waiter.host().equals(host)) {
        if (!place.isEmpty()) {
          return "";
        }
        place = ", place " + (i + 1);
      }
    }
    return place;
  }

  /** The holders and waiters ahead, to be appended to a clause, with a hint on longer waits. */
  private String situation() {
    try {
      Optional<LockInfo> view = client.admin().find(lock.name());
      Duration waited = wait == null ? Duration.ZERO : wait;
      return view.map(LockFormatter::situation).orElse(".")
          + view.map(found -> LockFormatter.waitingJudges(found, waited)).orElse("");
    } catch (StoreUnavailableException e) {
      return ": the store does not answer.";
    }
  }

  /** The name of this host as the library announces it. */
  private static String host() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException kernel) {
      try {
        return InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        return System.getenv().getOrDefault("HOSTNAME", "unknown");
      }
    }
  }
}
