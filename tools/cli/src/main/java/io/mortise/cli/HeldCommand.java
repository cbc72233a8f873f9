package io.mortise.cli;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.cli.child.ChildGuardian;
import io.mortise.cli.child.ChildProcess;
import io.mortise.cli.child.RunEvent;
import io.mortise.cli.child.Signals;
import io.mortise.cli.view.LossInspector;
import io.mortise.console.view.NestedRuns;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The command of {@code mortise run} under a lease: started, supervised and ended in time. May be
 * run again under the next lease. For one thread.
 */
final class HeldCommand {
  private final PrintStream err;
  private final LockClient client;
  private final String name;
  private final List<String> words;
  private final String handedOn;
  private final RunTimes times;
  private final boolean hasToken;
  private final Consumer<String> warnings;

  /**
   * Durations given by the user.
   *
   * @param notice between SIGTERM and the end of the lock's validity
   * @param countsAtLeast whether this process counts the at-least time, whatever the store can
   */
  record RunTimes(
      Duration notice,
      @Nullable Duration atLeast,
      @Nullable Duration atMost,
      @Nullable Duration holdOnCrash,
      boolean countsAtLeast) {

    /** The time after the grant for which the lock stays taken, unless reopened. */
    @Nullable Duration shut() {
      return atLeast == null || (holdOnCrash != null && holdOnCrash.compareTo(atLeast) > 0)
          ? holdOnCrash
          : atLeast;
    }
  }

  /** The outcome of a run under a lease. */
  record RunOutcome(int status, boolean lost) {}

  /**
   * Creates the command without starting it.
   *
   * @param handedOn the store, as passed to the command
   * @param hasToken whether the command gets a token
   * @param warnings receives warnings that the user may silence
   */
  HeldCommand(
      PrintStream err,
      LockClient client,
      String name,
      List<String> words,
      String handedOn,
      RunTimes times,
      boolean hasToken,
      Consumer<String> warnings) {
    this.err = err;
    this.client = client;
    this.name = name;
    this.words = words;
    this.handedOn = handedOn;
    this.times = times;
    this.hasToken = hasToken;
    this.warnings = warnings;
  }

  /**
   * Runs the command, and releases the lease. Blocks until the command has ended.
   *
   * @param events receives signals
   * @throws CliException if the command cannot be started
   */
  RunOutcome run(Lease lease, BlockingQueue<RunEvent> events) throws InterruptedException {
    // For the command only: otherwise these signals have their default effect.
    List<Runnable> restorers =
        Stream.of("TSTP", "CONT").map(signal -> Signals.listen(signal, events::add)).toList();
    String token = hasToken ? Long.toString(lease.token()) : "";
    LossInspector lossInspector = new LossInspector(client, name, token);
    long had = System.nanoTime();
    Supervisor.RunResult runResult;
    try {
      lease.onLost(
          loss -> {
            lossInspector.lost(loss);
            events.add(new RunEvent.LeaseLost());
          });
      ChildGuardian childProcess =
          ChildGuardian.start(
              words,
              environment -> prepare(environment, token),
              times.holdOnCrash() == null ? times.notice() : null,
              lease::remaining,
              warnings,
              status -> events.add(new RunEvent.ChildExited(status)));
      Duration atMost = times.atMost();
      Long atMostUntil = atMost == null ? null : had + atMost.toNanos();
      runResult =
          supervise(
              new Supervisor(lease, childProcess, events, times.notice(), atMostUntil),
              childProcess);
    } catch (IOException e) {
      keepShut(lease, Duration.ZERO); // the command has not started
      release(lease);
      throw notStarted(e);
    } finally {
      restorers.forEach(Runnable::run);
    }
    boolean itself = runResult.cause() == Supervisor.CommandEnd.ITSELF;
    if (itself) {
      stay(lease, had, events);
      reopen(lease, Duration.ofNanos(System.nanoTime() - had));
    }
    boolean stillShut = lossInspector.isStillShut();
    LeaseEnd lost = release(lease);
    if (!itself || lost != null) {
      err.println("mortise: " + OutputSanitizer.text(loss(runResult, token, lost, stillShut)));
      return new RunOutcome(ExitStatus.LOST, true);
    }
    return new RunOutcome(runResult.status(), false);
  }

  static CliException notStarted(IOException e) {
    return new CliException(
        ExitStatus.FAILED, "The command could not be started: " + e.getMessage(), e);
  }

  private static Supervisor.RunResult supervise(Supervisor supervisor, ChildProcess childProcess)
      throws InterruptedException {
    boolean over = false;
    try {
      Supervisor.RunResult runResult = supervisor.supervise();
      over = true;
      return runResult;
    } finally {
      if (!over) {
        childProcess.force(); // on any failure: no command may run without the lock
      }
    }
  }

  /**
   * Holds the lock until its at-least time is over, if processes have to count it: the next command
   * is a new process, which would find the lock shut. A signal or a loss ends that.
   */
  private void stay(Lease lease, long had, BlockingQueue<RunEvent> events)
      throws InterruptedException {
    Duration atLeast = times.atLeast();
    if (atLeast != null && isCountedHere() && lease.isValid()) {
      events.clear();
      events.poll(atLeast.toNanos() - (System.nanoTime() - had), TimeUnit.NANOSECONDS);
    }
  }

  private boolean isCountedHere() {
    return times.countsAtLeast() || !client.admin().store().has(Feature.COUNTS_AT_LEAST);
  }

  /** Undoes {@code --hold-on-crash}, as there was no crash; and a time that is over. */
  private void reopen(Lease lease, Duration held) {
    Duration atLeast = times.atLeast();
    boolean over = atLeast != null && atLeast.compareTo(held) <= 0 && isCountedHere();
    if (over || !Objects.equals(times.shut(), atLeast)) {
      keepShut(lease, atLeast == null ? Duration.ZERO : atLeast.minus(held));
    }
  }

  /** Keeps the lock taken for this time from now, replacing the time given at the acquire. */
  private void keepShut(Lease lease, Duration left) {
    Duration shut = times.shut();
    if (shut == null) {
      return;
    }
    try {
      lease.keepShut(left.toMillis() < 1 ? Duration.ofMillis(1) : left);
    } catch (LeaseLostException e) {
      return; // reported at the release
    } catch (LockException e) {
      err.println(
          "mortise: Lock '"
              + OutputSanitizer.text(name)
              + "' stays shut until "
              + DurationText.format(shut)
              + " after it was had: "
              + OutputSanitizer.text(OutputSanitizer.message(e)));
    }
  }

  /**
   * Returns the message, one paragraph, about a lock that was lost while its command ran.
   *
   * @param token of the hold; empty if there is none
   * @param lost the end of the lease, according to its release; null if it was released
   * @param stillShut whether no other process has held the lock, see {@link LossInspector}
   */
  private String loss(
      Supervisor.RunResult runResult, String token, @Nullable LeaseEnd lost, boolean stillShut) {
    boolean atMostOver = runResult.cause() == Supervisor.CommandEnd.ENDED_AT_MOST;
    if (atMostOver || runResult.cause() == Supervisor.CommandEnd.ENDED_IN_TIME) {
      return "Lock '"
          + name
          + "' could not be kept: "
          + (atMostOver ? "its at-most time is over" : "its renewal was overdue")
          + ". The command was ended (status "
          + runResult.status()
          + ") before anybody else could have the lock.";
    }
    String what =
        "Lock '"
            + name
            + "' was lost while the command ran"
            + (lost == null ? "" : ": " + reason(lost))
            + "; the command "
            + (runResult.cause() == Supervisor.CommandEnd.ITSELF ? "has ended" : "was ended")
            + " (status "
            + runResult.status()
            + ")";
    if (stillShut) {
      return what + " before anybody else could have the lock.";
    }
    return what
        + ". Its last work may overlap with the next holder's: check what was written"
        + (token.isEmpty() ? "." : " with token " + token + ".");
  }

  private static String reason(LeaseEnd end) {
    return switch (end) {
      case NOT_RENEWED ->
          "it was not renewed in time, since the store was silent or this process stood still";
      case FORGOTTEN -> "the store no longer knew it";
      case OUTER_LOST -> "the lock in the store of --also was lost";
      case AT_MOST -> "its at-most time is over";
      case EVICTED -> "an operator evicted it";
      case CLIENT_CLOSED -> "its client was closed";
      case RELEASED -> throw new IllegalArgumentException("A released lease is not lost.");
    };
  }

  /** Releases the lease; returns null, or the cause if it was lost before. */
  static @Nullable LeaseEnd release(Lease lease) {
    try {
      lease.close();
      return null;
    } catch (LeaseLostException e) {
      return e.end();
    }
  }

  private void prepare(Map<String, String> environment, String token) {
    String locale =
        environment.remove("MORTISE_LC_ALL"); // the value that the launcher script replaced
    if (locale != null && locale.isEmpty()) {
      environment.remove("LC_ALL");
    } else if (locale != null) {
      environment.put("LC_ALL", locale);
    }
    environment.put("MORTISE_LOCK", name);
    environment.put(StoreOptions.VARIABLE, handedOn);
    environment.put(NestedRuns.VARIABLE, Long.toString(ProcessHandle.current().pid()));
    if (token.isEmpty()) {
      environment.remove("MORTISE_TOKEN"); // from a command around this one
    } else {
      environment.put("MORTISE_TOKEN", token);
    }
  }
}
