package io.mortise.cli;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.cli.child.ChildGuardian;
import io.mortise.cli.child.LeaderPause;
import io.mortise.cli.child.RunEvent;
import io.mortise.cli.child.Signals;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code mortise run}: runs a command while holding a lock. */
@Command(
    name = "run",
    description = "Run a command while holding a lock.",
    customSynopsis = "mortise run [OPTION…] NAME -- COMMAND [ARGUMENT…]",
    footerHeading = "%nThe command sees%n",
    footer = {
      "  MORTISE_LOCK    the lock's name",
      "  MORTISE_TOKEN   the fencing token, which rises with every hold: let what you write to refuse a smaller one."
          + " Not there with --shared",
      "  MORTISE_STORE   the store, without its password; @FILE if this command got that",
      "  MORTISE_PID     the process that holds the lock",
      "",
      "Exit status: that of the command, 128 + n if signal n ended it; 64 wrong usage; 69 store not reachable or not"
          + " fit; 75 lock not had in time; 76 lock lost while the command ran; 126 command not executable;"
          + " 127 command not found; 130 interrupted while waiting.",
      "",
      "With --leader the command is started again when it has ended, or when the lock was lost and is had again."
          + " Only a signal ends mortise then, with the status of the command that ran, or 128 + n while none did.",
      "",
      "If the lock is about to be lost, the command and all that it started get SIGTERM when the grace begins and"
          + " SIGKILL before another can have the lock. The same happens, with no longer grace, if mortise itself is"
          + " killed, or stopped for so long.",
      "",
      "Not covered: processes that left the command's session (at a"
          + " terminal: whose parent has ended); what the command started and left running when it ended by itself;"
          + " a command that became another user; a machine that stands still. Only the token protects from these."
    })
final class RunCommand implements Callable<Integer> {
  private static final Duration LONGEST_GRACE = Duration.ofSeconds(3);

  private final CliEnvironment cliEnvironment;
  private final List<String> command;

  /**
   * Events of the present wait or run. Replaced for the next one, so that late events do not
   * disturb it.
   */
  private BlockingQueue<RunEvent> runEvents = new LinkedBlockingQueue<>();

  /** Whether a signal has asked for the end. */
  private volatile boolean ending;

  @Spec private CommandSpec spec;
  @Mixin private StoreOptions store;

  @Parameters(paramLabel = "NAME", description = "The lock's name.")
  private String name = "";

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      description =
          "How long to wait for the lock, like 500ms, 30s, 1h30m; 0 tries once. Default: for ever.")
  private @Nullable Duration wait;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      description =
          "How long the lock stays shut when this host dies; renewed every third of it. Default: 15s.")
  private @Nullable Duration ttl;

  @Option(
      names = "--at-least",
      paramLabel = "DURATION",
      description =
          "Keep the lock shut for at least so long after it was had, also when the command is over.")
  private @Nullable Duration atLeast;

  @Option(
      names = "--at-most",
      paramLabel = "DURATION",
      description = "Give the lock up after so long; a command that still runs is ended before.")
  private @Nullable Duration atMost;

  @Option(
      names = "--hold-on-crash",
      paramLabel = "DURATION",
      description =
          "If mortise or this host dies, let the command live and keep the lock shut for so long after it was had,"
              + " instead of ending the command. For what must rather not run twice than run again soon.")
  private @Nullable Duration holdOnCrash;

  @Option(names = "--shared", description = "Hold it together with others that say --shared.")
  private boolean shared;

  @Option(
      names = "--leader",
      description =
          "Keep the command running while this host leads: start it whenever the lock is had, again when it has ended"
              + " or the lock was lost, until a signal comes. Not with --wait, --at-least, --at-most, --hold-on-crash"
              + " or --shared.")
  private boolean leader;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      description =
          "Time between SIGTERM and the end of the lock's validity. Default: 3s, or a quarter of the TTL if that is"
              + " less.")
  private @Nullable Duration grace;

  @Option(
      names = "--label",
      paramLabel = "TEXT",
      description =
          "What 'mortise ls' shows about this hold. Default: the name of the command's program.")
  private @Nullable String label;

  @Option(
      names = "--also",
      paramLabel = "URL",
      description =
          "Hold the lock of that name also in this, the old store, while hosts move from it to --store; @FILE reads"
              + " it from a file. Not with --hold-on-crash.")
  private @Nullable String also;

  RunCommand(CliEnvironment cliEnvironment, List<String> command) {
    this.cliEnvironment = cliEnvironment;
    this.command = List.copyOf(command);
    this.store = new StoreOptions(cliEnvironment);
  }

  @Override
  public Integer call() throws InterruptedException {
    if (command.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "No command given. Write: mortise run " + name + " -- COMMAND");
    }
    if (command.get(0).isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "The command is an empty word. Is it a variable that is not set? Write: mortise run "
              + name
              + " -- COMMAND");
    }
    LockName.of(name);
    if (leader) {
      refuseBesideLeader();
    }
    checkEncoding();
    String url = store.url();
    StoreUrl.parse(url); // refuse a wrong value before searching the command
    if (also != null && holdOnCrash != null) {
      throw new ParameterException(
          spec.commandLine(),
          "--hold-on-crash cannot keep the lock of --also shut after a crash. Leave one of them out.");
    }
    String oldUrl = also == null ? null : StoreOptions.resolve(also);
    if (url.equals(oldUrl)) {
      throw new ParameterException(
          spec.commandLine(), "--also names the same store, whose lock would wait for itself.");
    }
    Duration session = ttl == null ? LockClientBuilder.DEFAULT_TTL : ttl;
    Duration notice = graceFor(session);
    HeldCommand.RunTimes times =
        new HeldCommand.RunTimes(notice, atLeast, atMost, holdOnCrash, also != null);
    LockOptions options = options(times.shut());
    List<String> words = new ArrayList<>(command);
    words.set(
        0,
        ExecutableFinder.check(
            words.get(0), cliEnvironment.variables().getOrDefault("PATH", "/bin:/usr/bin")));
    if (!leader) { // a leader retries, and the folder may come back
      checkTemporaryFolder();
    }

    for (String signal : RunEvent.SignalReceived.ENDING) {
      Signals.listen(signal, this::interrupted);
    }
    try (LockClient old = oldUrl == null ? null : store.connectOther(oldUrl, ttl);
        LockClient client = store.connect(url, ttl, old)) {
      connected = true;
      DistributedLock lock =
          (shared ? client.readWriteLock(name).readLock() : client.lock(name))
              .with(options.withFair(leader && client.admin().store().has(Feature.QUEUE)));
      HeldCommand held =
          new HeldCommand(
              cliEnvironment.err(),
              client,
              name,
              words,
              store.handedOn(url),
              times,
              !shared && client.admin().store().has(Feature.FENCING_TOKENS),
              store::say);
      if (leader) {
        return lead(client, lock, held);
      }
      Lease lease = acquire(client, lock);
      if (!lease.isValid()) { // this process was paused since the grant
        HeldCommand.release(lease);
        throw new CliException(
            ExitStatus.LOST,
            "Lock '" + name + "' was lost before the command began. The command was not started.");
      }
      return held.run(lease, nextEvents()).status();
    }
  }

  private static void checkTemporaryFolder() {
    try {
      ChildGuardian.checkTemporaryFolder();
    } catch (IOException e) {
      throw HeldCommand.notStarted(e);
    }
  }

  private void refuseBesideLeader() {
    Map<String, Boolean> given =
        Map.of(
            "--wait", wait != null,
            "--at-least", atLeast != null,
            "--at-most", atMost != null,
            "--hold-on-crash", holdOnCrash != null,
            "--shared", shared);
    List<String> wrong =
        given.entrySet().stream()
            .filter(Map.Entry::getValue)
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    if (!wrong.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "A leader waits for its lock for ever and holds it alone for as long as it can. Leave out "
              + String.join(", ", wrong)
              + ", or --leader.");
    }
  }

  private Lease acquire(LockClient client, DistributedLock lock) throws InterruptedException {
    return new LockWait(client, lock, wait, nextEvents())
        .acquire(store.quiet ? null : cliEnvironment.err());
  }

  /**
   * Acquires the lock repeatedly until a signal arrives. Neither an evicted wait nor a command that
   * cannot be started ends the candidate.
   */
  private int lead(LockClient client, DistributedLock lock, HeldCommand held)
      throws InterruptedException {
    LeaderPause leaderPause = new LeaderPause();
    while (true) {
      long began = System.nanoTime();
      String reason;
      try {
        Lease lease = acquire(client, lock);
        if (!lease.isValid()) { // this process was paused since the grant
          HeldCommand.release(lease);
          continue;
        }
        began = System.nanoTime();
        HeldCommand.RunOutcome result = held.run(lease, nextEvents());
        if (ending) {
          return result.status();
        } else if (result.lost()) {
          leaderPause.reset();
          continue;
        }
        reason = "The command has ended (status " + result.status() + ").";
      } catch (CliException | LockException e) {
        if (ending) {
          throw e;
        }
        reason = OutputSanitizer.message(e);
      }
      Duration pause = leaderPause.after(Duration.ofNanos(System.nanoTime() - began));
      store.say(
          reason
              + " Another host may lead '"
              + name
              + "' now; this one stands again in "
              + DurationText.format(pause)
              + ".");
      if (nextEvents().poll(pause.toMillis(), TimeUnit.MILLISECONDS)
          instanceof RunEvent.SignalReceived signal) {
        return ExitStatus.bySignal(signal.number());
      }
    }
  }

  /** Returns a queue for the next events, with pending signals that ask for the end. */
  private synchronized BlockingQueue<RunEvent> nextEvents() {
    BlockingQueue<RunEvent> next = new LinkedBlockingQueue<>();
    runEvents.stream()
        .filter(event -> event instanceof RunEvent.SignalReceived signal && signal.endsTool())
        .forEach(next::add);
    runEvents = next;
    return next;
  }

  private synchronized void received(RunEvent.SignalReceived signal) {
    runEvents.add(signal);
  }

  private volatile boolean connected;

  private void interrupted(RunEvent.SignalReceived signal) {
    if (connected) {
      ending = true;
      received(signal);
    } else {
      // Connecting cannot be interrupted, and there is nothing to clean up yet.
      Runtime.getRuntime().halt(ExitStatus.bySignal(signal.number()));
    }
  }

  private Duration graceFor(Duration session) {
    Duration notice = grace != null ? grace : Supervisor.min(LONGEST_GRACE, session.dividedBy(4));
    Duration shortest = session;
    if (atMost != null) {
      shortest = Supervisor.min(session, atMost);
      if (grace == null) {
        notice = Supervisor.min(notice, atMost.dividedBy(4));
      }
    }
    if (shortest.compareTo(notice.multipliedBy(2)) <= 0) {
      throw new ParameterException(
          spec.commandLine(),
          "The grace of "
              + DurationText.format(notice)
              + " takes half or more of the "
              + DurationText.format(shortest)
              + " that the lock is sure to be held. Raise --ttl"
              + (atMost == null ? "" : " and --at-most")
              + " or lower --grace.");
    }
    return notice;
  }

  /**
   * Refuses undecodable arguments: Java replaces bytes that it cannot decode, which would change
   * the command.
   */
  private void checkEncoding() {
    for (String word : command) {
      if (word.indexOf('\uFFFD') >= 0) {
        throw new CliException(
            ExitStatus.USAGE,
            "Argument '"
                + OutputSanitizer.text(word)
                + "' of the command cannot be read in the character set of this locale. Set LC_ALL to one that fits,"
                + " like C.UTF-8, or call a script that holds the argument.");
      }
    }
  }

  private LockOptions options(@Nullable Duration shut) {
    String shown = label;
    if (shown == null) {
      // Without the arguments: they may hold a password.
      Path program = Path.of(command.get(0)).getFileName();
      shown = program == null ? "" : OutputSanitizer.text(program.toString());
      shown = shown.substring(0, Math.min(shown.length(), 100));
    }
    return LockOptions.DEFAULTS.withAtMost(atMost).withAtLeast(shut).withLabel(shown);
  }
}
