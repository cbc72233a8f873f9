package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.SubjectStore;
import io.mortise.bench.subject.Subjects.SubjectTrait;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The workloads that need several processes. */
final class ProcessWorkloads {
  private static final int PROCESSES = 4;
  private static final int THREADS_EACH = 2;

  private static final long SETTLE_MILLIS = 5_000;

  /** A turn takes less time than a hand-off, and has no pause. */
  private static final int TURNS_PER_HAND_OFF = 5;

  /** The delay until all processes know the start time of the race. */
  private static final long HEAD_START_NANOS = 40_000_000;

  private final MeasurementRounds rounds;
  private final BenchResults benchResults;
  private final BenchPlan benchPlan;
  private final StoreUrls stores;
  private final Path cellFile;
  private final Random random = new Random(4711);

  ProcessWorkloads(
      MeasurementRounds rounds,
      BenchResults benchResults,
      BenchPlan benchPlan,
      StoreUrls stores,
      Path cellFile) {
    this.rounds = rounds;
    this.benchResults = benchResults;
    this.benchPlan = benchPlan;
    this.stores = stores;
    this.cellFile = cellFile;
  }

  private static final class WorkerProcesses implements AutoCloseable {
    final List<WorkerProcess> all = new ArrayList<>();

    @Override
    public void close() throws IOException {
      for (WorkerProcess workerProcess : all) {
        workerProcess.close();
      }
    }
  }

  private void start(WorkerProcesses workerProcesses, int count) throws IOException {
    for (int i = 1; i <= count; i++) {
      workerProcesses.all.add(new WorkerProcess(i, stores, cellFile));
    }
  }

  private static List<Subjects> across(List<Subjects> subjects) {
    return subjects.stream().filter(s -> s.is(SubjectTrait.ACROSS)).toList();
  }

  /** Threads of several processes contend for one lock. */
  void together(Workload workload, List<Subjects> subjects)
      throws IOException, InterruptedException {
    GuardedCell guardedCell = GuardedCell.in(cellFile);
    try (WorkerProcesses workerProcesses = new WorkerProcesses()) {
      start(workerProcesses, PROCESSES);
      rounds.play(
          workload,
          across(subjects),
          benchPlan.rounds(),
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            guardedCell.clear();
            WorkerProcess.askAll(
                workerProcesses.all, "prepare", which, lock, Map.of("threads", THREADS_EACH));
            long start = System.nanoTime() + HEAD_START_NANOS;
            long millis = counts ? benchPlan.contendedMillis() : 2L * benchPlan.contendedMillis();
            LoadCounts loadCounts = new LoadCounts(millis, 0);
            for (Map<String, Object> answer :
                WorkerProcess.askAll(
                    workerProcesses.all,
                    "race",
                    which,
                    lock,
                    Map.of("start", start, "millis", millis))) {
              loadCounts.add(LoadCounts.decode(answer));
            }
            if (loadCounts.firstFailure() != null) {
              benchResults.note(
                  workload,
                  which,
                  loadCounts.failures() + " failures, the first: " + loadCounts.firstFailure());
            }
            benchResults.broken(workload, which, guardedCell.broken(loadCounts.total()));
            if (counts) {
              benchResults.add(workload, which, "acq/s", loadCounts.perSecond());
              benchResults.add(
                  workload,
                  which,
                  "switches/s",
                  loadCounts.perSecond(guardedCell.threadSwitches()));
              benchResults.add(
                  workload,
                  which,
                  "process switches/s",
                  loadCounts.perSecond(guardedCell.processSwitches()));
              benchResults.add(workload, which, "longest ms", loadCounts.longestTakeMillis());
              benchResults.add(workload, which, "cpu µs", loadCounts.cpuMicrosPerPair());
            }
          });
    }
  }

  /** One process gives a lock back while another waits for it. */
  void signal(Workload workload, List<Subjects> subjects) throws IOException, InterruptedException {
    try (WorkerProcesses workerProcesses = new WorkerProcesses()) {
      start(workerProcesses, 2);
      WorkerProcess holder = workerProcesses.all.get(0);
      WorkerProcess waiter = workerProcesses.all.get(1);
      rounds.play(
          workload,
          across(subjects),
          benchPlan.rounds(),
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            Histogram micros = LockLoad.histogram();
            for (int i = 0; i < benchPlan.handOffs(); i++) {
              holder.ask("take", which, lock, Map.of());
              waiter.tell("take", which, lock, Map.of());
              // A random time, so that the release hits any point of a poller's period.
              Thread.sleep(10 + random.nextInt(50));
              long given = WorkerProcess.number(holder.ask("give", which, lock, Map.of()), "at");
              long taken = WorkerProcess.number(waiter.answer(), "at");
              waiter.ask("give", which, lock, Map.of());
              if (taken < given) {
                benchResults.broken(workload, which, 1);
              }
              micros.recordValue(Math.max(0, taken - given));
            }
            if (counts) {
              benchResults.add(workload, which, "p50 µs", micros.getValueAtPercentile(50) / 1e3);
              benchResults.add(workload, which, "p99 µs", micros.getValueAtPercentile(99) / 1e3);
            }
          });
    }
  }

  /** Two processes acquire and release a lock in turns, without contention. */
  void turns(Workload workload, List<Subjects> subjects) throws IOException, InterruptedException {
    try (WorkerProcesses workerProcesses = new WorkerProcesses()) {
      start(workerProcesses, 2);
      rounds.play(
          workload,
          across(subjects),
          benchPlan.rounds(),
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            Histogram nanos = LockLoad.histogram();
            for (int i = 0; i < TURNS_PER_HAND_OFF * benchPlan.handOffs(); i++) {
              WorkerProcess next = workerProcesses.all.get(i % 2);
              nanos.recordValue(
                  WorkerProcess.number(next.ask("turn", which, lock, Map.of()), "nanos"));
            }
            if (counts) {
              benchResults.add(workload, which, "p50 µs", nanos.getValueAtPercentile(50) / 1e3);
              benchResults.add(workload, which, "mean µs", nanos.getMean() / 1e3);
              benchResults.add(workload, which, "p99 µs", nanos.getValueAtPercentile(99) / 1e3);
            }
          });
    }
  }

  /** Measures the cost of a long wait while another process holds the lock. */
  void patience(Workload workload, List<Subjects> subjects)
      throws IOException, InterruptedException {
    try (WorkerProcesses workerProcesses = new WorkerProcesses()) {
      start(workerProcesses, 2);
      WorkerProcess holder = workerProcesses.all.get(0);
      WorkerProcess waiter = workerProcesses.all.get(1);
      rounds.play(
          workload,
          across(subjects),
          1,
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            holder.ask("take", which, lock, Map.of());
            waiter.tell("take", which, lock, Map.of());
            Thread.sleep(100);
            long cpu = waiter.cpuNanos();
            long from = System.nanoTime();
            Thread.sleep(benchPlan.contendedMillis() * 2L);
            double share = 100.0 * (waiter.cpuNanos() - cpu) / (System.nanoTime() - from);
            holder.ask("give", which, lock, Map.of());
            waiter.answer();
            waiter.ask("give", which, lock, Map.of());
            if (counts) {
              benchResults.add(workload, which, "waiter cpu %", share);
            }
          });
    }
  }

  /** A process holds many locks and only renews them. */
  void held(Workload workload, List<Subjects> subjects) throws IOException, InterruptedException {
    // Clients in this process would renew their sessions meanwhile.
    rounds.close();
    List<Subjects> keepers = subjects.stream().filter(s -> s.is(SubjectTrait.KEEPS)).toList();
    for (Subjects which : keepers) {
      // Names of some 20 characters, of the same length for all subjects.
      String lock = String.format(Locale.ROOT, "bench/%03d/held/", random.nextInt(1000));
      try (RedisServerStats server = server(which);
          WorkerProcesses workerProcesses = new WorkerProcesses()) {
        // The second is idle: its CPU time is the baseline of a JVM without locks.
        start(workerProcesses, 2);
        WorkerProcess holder = workerProcesses.all.get(0);
        holder.ask("connect", which, lock, Map.of());
        long memory = server == null ? 0 : server.usedMemory();
        long heap =
            WorkerProcess.number(
                holder.ask("hold", which, lock, Map.of("count", benchPlan.held())), "heap");
        if (server != null) {
          benchResults.add(
              workload,
              which,
              "server B/lock",
              (server.usedMemory() - memory) / (double) benchPlan.held());
        }
        benchResults.add(workload, which, "heap B/lock", heap / (double) benchPlan.held());
        watch(workload, which, server, holder, workerProcesses.all.get(1));
      } catch (IOException e) {
        benchResults.note(workload, which, "failed: " + e);
      }
    }
  }

  private @Nullable RedisServerStats server(Subjects which) {
    return which.place() == SubjectStore.REDIS
        ? new RedisServerStats(stores.url(SubjectStore.REDIS))
        : null;
  }

  private void watch(
      Workload workload,
      Subjects which,
      @Nullable RedisServerStats server,
      WorkerProcess holder,
      WorkerProcess idle)
      throws IOException, InterruptedException {
    // Let the after-effects of the many acquires settle.
    Thread.sleep(SETTLE_MILLIS);
    Map<String, Long> before = server == null ? Map.of() : server.calls();
    long requests = server == null ? 0 : server.requests();
    long cpu = holder.cpuNanos() - idle.cpuNanos();
    long from = System.nanoTime();
    Thread.sleep(benchPlan.heldSeconds() * 1000L);
    double seconds = (System.nanoTime() - from) / 1e9;
    long spent = holder.cpuNanos() - idle.cpuNanos() - cpu;
    benchResults.add(workload, which, "client cpu %", spent / 1e7 / seconds);
    if (server == null) {
      return;
    }
    // Minus the request that reads the counter.
    benchResults.add(workload, which, "requests/s", (server.requests() - requests - 1) / seconds);
    Map<String, Long> calls = new TreeMap<>();
    server
        .calls()
        .forEach(
            (command, count) -> {
              long more = count - before.getOrDefault(command, 0L);
              if (more > 0) {
                calls.put(command, more);
              }
            });
    long sum = calls.values().stream().mapToLong(Long::longValue).sum();
    benchResults.add(workload, which, "commands/s", sum / seconds);
    benchResults.note(
        workload, which, "server commands in " + Math.round(seconds) + " s: " + calls);
  }
}
