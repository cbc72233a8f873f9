package io.mortise.cli;

import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import io.mortise.torture.run.InjectedFault;
import io.mortise.torture.run.RunTotals;
import io.mortise.torture.run.TortureEnvironment;
import io.mortise.torture.run.TorturePlan;
import io.mortise.torture.run.TortureReport;
import io.mortise.torture.run.TortureRun;
import io.mortise.torture.run.TortureRun.TortureOutcome;
import io.mortise.torture.run.TortureRun.TortureResult;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code mortise torture}: injects faults, and checks that promises are kept. */
@Command(
    name = "torture",
    description =
        "Let clients and servers be stopped, killed and cut off while locks are taken, and check"
            + " what the clients saw.",
    footer = {
      "",
      "Client processes take locks on the store and write down what they see; a checker finds out"
          + " whether two held at a time, whether tokens rose, whether a resource that checks them"
          + " lost an update, and more. Controls run along that have to break: a resource that"
          + " checks no token, a naive lock, and a naive queue. If they do not, the run is void."
          + " Writes a page with a picture of it all.",
      "",
      "Exit status: 0 if every promise was kept; 1 if one was broken, or the run was void; 69 if a"
          + " server is not installed or cannot be reached."
    })
final class TortureCommand implements Callable<Integer> {
  private final CliEnvironment cliEnvironment;
  private final RunTotals runTotals = new RunTotals();
  private int runs;

  @Spec private CommandSpec spec;

  @Mixin CommonOptions common = new CommonOptions(); // read by the parser

  @Option(
      names = "--store",
      paramLabel = "URL",
      description =
          "Take locks on this store of yours, where only clients' faults happen; @FILE reads the URL"
              + " from a file. Not together with --servers. Default: none, whatever MORTISE_STORE"
              + " says: servers are started.")
  private @Nullable String store;

  @Option(
      names = "--servers",
      split = ",",
      paramLabel = "NAME",
      description =
          "Start these servers, on free ports of this host, one after the other; those that are not"
              + " on this machine are skipped: redis, redis-everysec, redis-pair, redis-sentinel,"
              + " redis-cluster, quorum, sqlite, postgresql, mysql, mariadb, h2, zookeeper,"
              + " curator, etcd, etcd-cluster, consul, consul-cluster, nats, memcached, or all."
              + " Default, without --store: redis.")
  private List<String> servers = List.of();

  @Option(
      names = "--faults",
      split = ",",
      paramLabel = "FAULT",
      description =
          "Only these: pause, full-gc, kill, kill-waiter, kill-chain, cut-off, half-open, slow,"
              + " lost-replies, lost-requests, reset, server-pause, server-crash, power-cut,"
              + " failover, split, clock-forward, clock-back, forget, restart-empty, script-flush,"
              + " push-loss. Default: all that the store and this machine allow. To a store given by"
              + " --store only clients' faults happen.")
  private List<String> faults = List.of();

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "2",
      description = "For how long things go wrong, for each store. Default: ${DEFAULT-VALUE}.")
  private double minutes;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      defaultValue = "2s",
      description = "Of the sessions. Default: ${DEFAULT-VALUE}.")
  private Duration ttl;

  @Option(
      names = "--processes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Client processes. Default: ${DEFAULT-VALUE}.")
  private int processes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "2",
      description = "Threads of each, besides the controls'. Default: ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--bulk",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Further locks that each process takes at a time, which are checked and counted, not"
              + " written down; and three threads that pass one on among themselves. 0 for none."
              + " Default: ${DEFAULT-VALUE}.")
  private int bulk;

  @Option(
      names = "--patience",
      paramLabel = "DURATION",
      defaultValue = "500ms",
      description =
          "How much longer than promised a lock may stay shut: more for a machine that is busy with"
              + " other things. Default: ${DEFAULT-VALUE}.")
  private Duration patience;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Repeats the faults of another run, in their order.")
  private @Nullable Long seed;

  @Option(
      names = "--report",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description =
          "Where the page goes, as mortise-torture-STORE.html; made if it is missing. Default: the current folder.")
  private Path report;

  TortureCommand(CliEnvironment cliEnvironment) {
    this.cliEnvironment = cliEnvironment;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    long drawn = seed == null ? new Random().nextInt(1_000_000) : seed;
    String url = store == null || store.isEmpty() ? null : StoreOptions.resolve(store);
    if (url != null && !servers.isEmpty()) {
      throw wrong("Give either --store or --servers.");
    }
    if (servers.equals(List.of("all"))) {
      servers = TortureEnvironment.OWN;
    }
    for (String server : servers) {
      if (!TortureEnvironment.OWN.contains(server)) {
        throw wrong(
            "There is no server '"
                + server
                + "'. Known: "
                + String.join(", ", TortureEnvironment.OWN));
      }
    }
    if (!(minutes >= 0 && minutes <= 10_000)) {
      throw wrong("Give --minutes from 0 on.");
    }
    Set<InjectedFault> wanted = wanted();
    // Refused before anything is started.
    plan(wanted, drawn);
    makeReportFolder();
    boolean kept = true;
    // The clients' log during faults would repeat the story.
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
    if (url != null) {
      return exit(run(TortureEnvironment.of(url), wanted, drawn, "--store URL"));
    }
    for (String server : servers.isEmpty() ? List.of("redis") : servers) {
      Path folder = Files.createTempDirectory("mortise-torture");
      try {
        Optional<TortureEnvironment> tortureEnvironment =
            TortureEnvironment.start(server, folder, wanted);
        if (tortureEnvironment.isEmpty()) {
          cliEnvironment.out().println(server + ": skipped, since it is not on this machine");
        } else {
          kept &= run(tortureEnvironment.get(), wanted, drawn, "--servers " + server);
        }
      } finally {
        delete(folder);
      }
    }
    if (runs == 0) {
      throw new CliException(ExitStatus.STORE, "None of these servers is on this machine.");
    }
    if (runs > 1) {
      runTotals.lines().forEach(line -> cliEnvironment.out().println(line));
    }
    return exit(kept);
  }

  /** Creates the folder before the run, whose result would be lost otherwise. */
  private void makeReportFolder() {
    try {
      Files.createDirectories(report);
    } catch (IOException e) {
      throw wrong(
          "Cannot make folder '" + report + "' for the page: " + e + ". Give another --report.");
    }
    if (!Files.isWritable(report)) {
      throw wrong("Cannot write the page to folder '" + report + "'. Give another --report.");
    }
  }

  private static int exit(boolean kept) {
    return kept ? ExitStatus.OK : ExitStatus.FAILED;
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private Set<InjectedFault> wanted() {
    if (faults.isEmpty()) {
      return EnumSet.allOf(InjectedFault.class);
    }
    Set<InjectedFault> wanted = EnumSet.noneOf(InjectedFault.class);
    for (String label : faults) {
      wanted.add(
          Arrays.stream(InjectedFault.values())
              .filter(fault -> fault.label().equals(label))
              .findFirst()
              .orElseThrow(() -> wrong("There is no fault '" + label + "'.")));
    }
    return wanted;
  }

  /** Whether every promise was kept; closes the environment. */
  private boolean run(
      TortureEnvironment tortureEnvironment, Set<InjectedFault> wanted, long drawn, String where)
      throws IOException, InterruptedException {
    PrintStream out = cliEnvironment.out();
    Path folder = Files.createTempDirectory("mortise-torture");
    boolean kept = false;
    try (tortureEnvironment) {
      tellOfLacking(tortureEnvironment, wanted);
      Set<InjectedFault> possible = EnumSet.copyOf(wanted);
      possible.retainAll(tortureEnvironment.faults());
      TorturePlan torturePlan = plan(possible, drawn);
      String again = again(where, possible, drawn);
      out.println(tortureEnvironment.name() + ": " + again);
      long began = System.nanoTime();
      TortureResult result =
          new TortureRun(
                  torturePlan,
                  tortureEnvironment,
                  folder,
                  line ->
                      out.printf(
                          Locale.ROOT, "  %6.1f s  %s%n", (System.nanoTime() - began) / 1e9, line))
              .run();
      runTotals.add(result);
      runs++;
      TortureReport told = new TortureReport(result, again);
      told.lines().forEach(line -> out.println(OutputSanitizer.text(line)));
      Path page = report.resolve("mortise-torture-" + tortureEnvironment.name() + ".html");
      Files.writeString(page, told.html(), StandardCharsets.UTF_8);
      out.println("Page: " + page);
      kept = result.outcome() == TortureOutcome.KEPT;
      return kept;
    } finally {
      if (kept) {
        delete(folder);
      } else {
        out.println("What the clients saw: " + folder);
      }
    }
  }

  /** Refuses unsupported faults that were requested by name, and reports the others. */
  private void tellOfLacking(TortureEnvironment tortureEnvironment, Set<InjectedFault> wanted) {
    tortureEnvironment
        .lacking()
        .forEach(
            (fault, why) -> {
              String text = tortureEnvironment.name() + ": no " + fault.label() + " here: " + why;
              if (wanted.contains(fault) && !faults.isEmpty()) {
                throw new CliException(ExitStatus.STORE, text);
              } else if (wanted.contains(fault)) {
                cliEnvironment.out().println(text);
              }
            });
  }

  private TorturePlan plan(Set<InjectedFault> possible, long drawn) {
    try {
      return new TorturePlan(
          Duration.ofMillis((long) (minutes * 60_000)),
          ttl,
          processes,
          threads,
          2,
          bulk,
          possible,
          patience,
          drawn);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private String again(String where, Set<InjectedFault> possible, long drawn) {
    return String.format(
        Locale.ROOT,
        "mortise torture %s --faults %s --minutes %s --ttl %s --processes %d --threads %d --bulk"
            + " %d --patience %s --seed %d",
        where,
        possible.stream().sorted().map(InjectedFault::label).collect(Collectors.joining(",")),
        minutes == Math.rint(minutes) ? Long.toString((long) minutes) : Double.toString(minutes),
        DurationText.formatExact(ttl),
        processes,
        threads,
        bulk,
        DurationText.formatExact(patience),
        drawn);
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
