package io.mortise.bench;

import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
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
    name = "quality/bench/run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures Mortise beside other lock libraries, on the same servers and in one run."
            + " Starts servers of its own for the stores that no option names.",
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:mutual exclusion was broken, or the bench failed",
      "2:wrong usage",
      "3:with --check, a target was missed"
    })
public final class BenchMain implements Callable<Integer> {
  private static final int BROKEN = 1;
  private static final int MISSED = 3;

  @Spec private CommandLine.Model.CommandSpec spec;

  @Option(
      names = "--stores",
      split = ",",
      paramLabel = "NAME",
      defaultValue = "redis,sqlite",
      showDefaultValue = CommandLine.Help.Visibility.ALWAYS,
      description =
          "Some of: redis, sqlite, postgresql, mariadb, mysql, zookeeper, etcd, nats,"
              + " consul, memcached, dynamodb.")
  private List<String> stores;

  @Option(names = "--quick", description = "About a quarter as long; noisier.")
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
      names = "--server",
      paramLabel = "STORE=URL",
      description =
          "Your own server, as redis=redis://host:port or postgresql=jdbc:postgresql://host/db?user=…&password=…."
              + " Keys, rows and tables are written; use no server of production.")
  private Map<String, String> servers = Map.of();

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

  private BenchMain() {}

  /** The names of the workloads, for the help text. */
  static final class WorkloadNames implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return Arrays.stream(Workload.values()).map(Workload::label).iterator();
    }
  }

  /**
   * Runs the bench, then exits with its status.
   *
   * @param args the command line
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BenchMain()).execute(args));
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
    try (BenchServers all = new BenchServers(servers(), folder)) {
      subjects.stream().map(Subjects::place).distinct().forEach(all::want);
      BenchPlan benchPlan = quick ? BenchPlan.QUICK : BenchPlan.FULL;
      Map<String, Object> circumstances = circumstances(all);
      circumstances.forEach((name, value) -> text.println(name + ": " + value));
      PrintWriter progress = spec.commandLine().getErr();
      BenchResults benchResults =
          new BenchRunner(benchPlan, all.stores(), subjects, chosen, progress).run(folder);
      List<PerformanceTargets.PerformanceTarget> performanceTargets =
          PerformanceTargets.of(benchResults);
      TextReport.print(benchResults, performanceTargets, text);
      Files.createDirectories(out);
      JsonReport.write(
          out.resolve("results.json"), circumstances, benchResults, performanceTargets);
      Files.writeString(out.resolve("results.svg"), ComparisonChart.of(benchResults));
      text.printf("%nWritten: %s, results.svg%n", out.resolve("results.json"));
      if (benchResults.broken() > 0) {
        return BROKEN;
      }
      boolean missed = performanceTargets.stream().anyMatch(t -> t.measured() && !t.reached());
      return check && missed ? MISSED : 0;
    } finally {
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
    Set<SubjectStore> there = places(stores);
    there.add(SubjectStore.PROCESS);
    List<Subjects> all =
        Arrays.stream(Subjects.values()).filter(s -> there.contains(s.place())).toList();
    if (only == null) {
      return all;
    }
    Pattern wanted = Pattern.compile(only);
    List<Subjects> named = all.stream().filter(s -> wanted.matcher(s.label()).find()).toList();
    if (named.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "No subject matches '" + only + "'. See --list.");
    }
    Set<Subjects> chosen = EnumSet.copyOf(named);
    TextReport.yardsticks(EnumSet.copyOf(all)).stream()
        .filter(y -> named.stream().anyMatch(s -> s.place() == y.place()))
        .forEach(chosen::add);
    return List.copyOf(chosen);
  }

  private Map<SubjectStore, String> servers() {
    Map<SubjectStore, String> named = new EnumMap<>(SubjectStore.class);
    servers.forEach((name, url) -> named.put(places(List.of(name)).iterator().next(), url));
    return named;
  }

  private Set<SubjectStore> places(Collection<String> names) {
    Set<SubjectStore> storeKinds = EnumSet.noneOf(SubjectStore.class);
    for (String name : names) {
      storeKinds.add(
          Arrays.stream(SubjectStore.values())
              .filter(p -> p != SubjectStore.PROCESS && p.name().equalsIgnoreCase(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new ParameterException(
                          spec.commandLine(), "Unknown store '" + name + "'. See --help.")));
    }
    return storeKinds;
  }

  private Map<String, Object> circumstances(BenchServers all) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("time", Instant.now().toString());
    facts.put("mode", quick ? "quick" : "full");
    facts.put(
        "machine",
        Runtime.getRuntime().availableProcessors()
            + " processors, "
            + System.getProperty("os.name")
            + " "
            + System.getProperty("os.arch"));
    facts.put("java", System.getProperty("java.vendor") + " " + Runtime.version());
    facts.put("servers", all.described());
    return facts;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
    }
  }
}
