package io.mortise.field.rolling;

import io.mortise.field.rolling.DeploymentChecker.Schedule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A job that each host starts at each tick, by {@code mortise run}. Thread-safe. */
final class CronJobs implements AutoCloseable {
  static final Schedule SCHEDULE =
      new Schedule("cron", true, 15_000, 8_000, ShopDatabase.WorkInterval::tick);
  private static final long LONGEST_SECONDS = 60;

  /** A line of the job when it begins or ends. */
  private static final Pattern MARK = Pattern.compile("(begin|end) (\\d+) (\\S+) (\\d+)");

  /** The job. Its effect is visible outside, even without its host's network. */
  private static final String JOB =
      "echo \"begin $0 $1 $(date +%s%3N)\" >>\"$2\"; sleep 2;"
          + " echo \"end $0 $1 $(date +%s%3N)\" >>\"$2\"";

  /**
   * A try of a host to run the job.
   *
   * @param status of {@code mortise run}
   */
  record CronRun(long tick, String host, long began, int status) {}

  private final ConcurrentLinkedQueue<CronRun> runs = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Path marks;
  private final Path folder;
  private final List<String> options;
  private final Supplier<Checkout> checkout;
  private volatile boolean open = true;

  /**
   * Starts a thread for each host.
   *
   * @param checkout with the tool to run
   */
  CronJobs(
      List<SimulatedHost> hosts,
      LockServers store,
      Duration ttl,
      Path folder,
      Supplier<Checkout> checkout) {
    this.folder = folder;
    this.marks = folder.resolve("cron.marks");
    this.checkout = checkout;
    this.options =
        new ArrayList<>(
            List.of("run", "--store", store.url(), "--ttl", ttl.toMillis() + "ms", "--wait", "0"));
    if (store.keepsAtLeast()) {
      options.addAll(List.of("--at-least", SCHEDULE.atLeast() + "ms"));
    }
    hosts.forEach(host -> threads.execute(() -> runOn(host)));
  }

  private void runOn(SimulatedHost host) {
    long period = SCHEDULE.period();
    try {
      while (open) {
        long tick = DeploymentFaultLog.now() / period + 1;
        while (open && DeploymentFaultLog.now() < tick * period) {
          Thread.sleep(20);
        }
        if (open && !host.isFrozen()) {
          runs.add(new CronRun(tick, host.name(), DeploymentFaultLog.now(), run(host, tick)));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int run(SimulatedHost host, long tick) throws InterruptedException {
    List<String> command = new ArrayList<>(checkout.get().tool(host.jvmOptions()));
    command.addAll(options);
    command.addAll(List.of("cron", "--", "sh", "-c", JOB));
    command.addAll(List.of(Long.toString(tick), host.name(), marks.toString()));
    try {
      return host.start(command, folder.resolve("cron-" + host.name() + ".log"))
          .awaitEnd(LONGEST_SECONDS);
    } catch (IOException e) {
      return -2;
    }
  }

  List<CronRun> runs() {
    return new ArrayList<>(runs);
  }

  /** The runs of the job, as observed outside. */
  List<ShopDatabase.WorkInterval> jobs() throws IOException {
    if (!Files.exists(marks)) {
      return List.of();
    }
    List<Matcher> lines =
        Files.readAllLines(marks).stream().map(MARK::matcher).filter(Matcher::matches).toList();
    Map<String, Long> ends =
        lines.stream()
            .filter(line -> line.group(1).equals("end"))
            .collect(
                Collectors.toMap(
                    line -> line.group(2) + line.group(3),
                    line -> Long.parseLong(line.group(4)),
                    (first, second) -> second));
    return lines.stream()
        .filter(line -> line.group(1).equals("begin"))
        .map(
            line ->
                new ShopDatabase.WorkInterval(
                    line.group(3),
                    Long.parseLong(line.group(2)),
                    0,
                    Long.parseLong(line.group(4)),
                    ends.getOrDefault(line.group(2) + line.group(3), 0L)))
        .toList();
  }

  /** Waits for the last runs. */
  @Override
  public void close() {
    open = false;
    RollingDeployment.end(threads, LONGEST_SECONDS + 10);
  }
}
