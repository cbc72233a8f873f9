package io.mortise.bench;

import io.mortise.bench.subject.Stores;
import io.mortise.bench.subject.Subjects;
import io.mortise.testkit.server.RedisServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Entry point of the bench. */
@Command(
    name = "bench/run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures Mortise beside other lock libraries, on the same servers and in one run."
            + " Starts a Redis of its own unless --redis names one.",
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:mutual exclusion was broken, or the bench failed",
      "2:wrong usage",
      "3:with --check, a target was missed"
    })
public final class Main implements Callable<Integer> {
  private static final int BROKEN = 1;
  private static final int MISSED = 3;

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(names = "--quick", description = "About two minutes instead of eight; noisier.")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "REGEX",
      description = "Subjects whose name has a match of this, and what they are compared with.")
  private @Nullable String only;

  @Option(
      names = "--workloads",
      split = ",",
      paramLabel = "NAME",
      description = "Some of: ${COMPLETION-CANDIDATES}.",
      completionCandidates = WorkloadNames.class)
  private @Nullable List<String> workloads;

  @Option(
      names = "--redis",
      paramLabel = "URL",
      description =
          "Your own Redis, as redis://host:port. Keys named bench/… are written; use no server of production.")
  private @Nullable String redis;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description = "Where results.json and results.svg go.",
      defaultValue = "target/bench-results",
      showDefaultValue = CommandLine.Help.Visibility.ALWAYS)
  private Path out;

  @Option(names = "--check", description = "A missed target is a failure.")
  private boolean check;

  @Option(names = "--list", description = "Names the subjects and ends.")
  private boolean list;

  private Main() {}

  /** The names of the workloads, for the help text. */
  static final class WorkloadNames implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return Arrays.stream(Workload.values()).map(Workload::label).iterator();
    }
  }

  /**
   * Runs the bench and ends the process with its exit code.
   *
   * @param args the words of the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter text = spec.commandLine().getOut();
    if (list) {
      Arrays.stream(Subjects.values()).forEach(subject -> text.println(subject.label()));
      return 0;
    }
    Set<Workload> chosen = chosenWorkloads();
    List<Subjects> subjects = chosenSubjects();
    Path folder = Files.createTempDirectory("mortise-bench");
    boolean onRedis = subjects.stream().anyMatch(s -> s.place() == Subjects.Place.REDIS);
    RedisServer own = onRedis && redis == null ? ownRedis() : null;
    try {
      String url = own != null ? own.url() : redis == null ? "" : redis;
      Stores stores = new Stores(url, folder.resolve("bench.db").toString());
      Plan plan = quick ? Plan.QUICK : Plan.FULL;
      Map<String, Object> circumstances = circumstances(stores);
      circumstances.forEach((name, value) -> text.println(name + ": " + value));
      PrintWriter progress = spec.commandLine().getErr();
      Figures figures = new Bench(plan, stores, subjects, chosen, progress).run(folder);
      List<Targets.Target> targets = Targets.of(figures);
      TextReport.print(figures, targets, text);
      Files.createDirectories(out);
      JsonReport.write(out.resolve("results.json"), circumstances, figures, targets);
      Files.writeString(out.resolve("results.svg"), Picture.of(figures));
      text.printf("%nWritten: %s, results.svg%n", out.resolve("results.json"));
      if (figures.broken() > 0) {
        return BROKEN;
      }
      boolean missed = targets.stream().anyMatch(t -> t.measured() && !t.reached());
      return check && missed ? MISSED : 0;
    } finally {
      if (own != null) {
        own.close();
      }
      delete(folder);
    }
  }

  private Set<Workload> chosenWorkloads() {
    Set<Workload> chosen = EnumSet.noneOf(Workload.class);
    for (Workload workload : Workload.values()) {
      if (workloads == null || workloads.contains(workload.label())) {
        chosen.add(workload);
      }
    }
    if (workloads != null && chosen.size() < Set.copyOf(workloads).size()) {
      throw new ParameterException(
          spec.commandLine(),
          "Unknown workload in '" + String.join(",", workloads) + "'. See --help.");
    }
    return chosen;
  }

  private List<Subjects> chosenSubjects() {
    if (only == null) {
      return List.of(Subjects.values());
    }
    Pattern wanted = Pattern.compile(only);
    List<Subjects> named =
        Arrays.stream(Subjects.values()).filter(s -> wanted.matcher(s.label()).find()).toList();
    if (named.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "No subject matches '" + only + "'. See --list.");
    }
    Set<Subjects> all = EnumSet.copyOf(named);
    TextReport.yardsticks(EnumSet.allOf(Subjects.class)).stream()
        .filter(y -> named.stream().anyMatch(s -> s.place() == y.place()))
        .forEach(all::add);
    return List.copyOf(all);
  }

  private static RedisServer ownRedis() {
    Path binary =
        RedisServer.installed(7)
            .or(RedisServer::bundled)
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "No redis-server 7 on the PATH, and none for this machine among the dependencies. Install one, or"
                            + " name a running one with --redis."));
    return RedisServer.start(binary);
  }

  private Map<String, Object> circumstances(Stores stores) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("time", Instant.now().toString());
    all.put("mode", quick ? "quick" : "full");
    all.put(
        "machine",
        Runtime.getRuntime().availableProcessors()
            + " processors, "
            + System.getProperty("os.name")
            + " "
            + System.getProperty("os.arch"));
    all.put("java", System.getProperty("java.vendor") + " " + Runtime.version());
    if (!stores.redis().isEmpty()) {
      try (RedisFigures server = new RedisFigures(stores.redis())) {
        all.put("redis", server.version() + (redis == null ? ", own, no persistence" : ", yours"));
      }
    }
    return all;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
    }
  }
}
