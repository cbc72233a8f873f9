package io.mortise.bench;

import io.mortise.bench.subject.Stores;
import io.mortise.bench.subject.Subjects;
import io.mortise.bench.subject.Subjects.Place;
import io.mortise.bench.subject.Subjects.Trait;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  /** Until all processes have heard when the race begins. */
  private static final long HEAD_START_NANOS = 40_000_000;

  private final Rounds rounds;
  private final Figures figures;
  private final Plan plan;
  private final Stores stores;
  private final Path cellFile;
  private final Random random = new Random(4711);

  ProcessWorkloads(Rounds rounds, Figures figures, Plan plan, Stores stores, Path cellFile) {
    this.rounds = rounds;
    this.figures = figures;
    this.plan = plan;
    this.stores = stores;
    this.cellFile = cellFile;
  }

  private static final class Children implements AutoCloseable {
    final List<Child> all = new ArrayList<>();

    @Override
    public void close() throws IOException {
      for (Child child : all) {
        child.close();
      }
    }
  }

  private void start(Children children, int count) throws IOException {
    for (int i = 1; i <= count; i++) {
      children.all.add(new Child(i, stores, cellFile));
    }
  }

  private static List<Subjects> across(List<Subjects> subjects) {
    return subjects.stream().filter(s -> s.is(Trait.ACROSS)).toList();
  }

  /** Threads of several processes want one lock. */
  void together(Workload workload, List<Subjects> subjects)
      throws IOException, InterruptedException {
    Cell cell = Cell.in(cellFile);
    try (Children children = new Children()) {
      start(children, PROCESSES);
      rounds.play(
          workload,
          across(subjects),
          plan.rounds(),
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            cell.clear();
            Child.askAll(children.all, "prepare", which, lock, Map.of("threads", THREADS_EACH));
            long start = System.nanoTime() + HEAD_START_NANOS;
            long millis = counts ? plan.contendedMillis() : 2L * plan.contendedMillis();
            Tally tally = new Tally(millis, 0);
            for (Map<String, Object> answer :
                Child.askAll(
                    children.all, "race", which, lock, Map.of("start", start, "millis", millis))) {
              tally.add(Tally.decode(answer));
            }
            if (tally.firstFailure() != null) {
              figures.note(
                  workload,
                  which,
                  tally.failures() + " failures, the first: " + tally.firstFailure());
            }
            figures.broken(workload, which, cell.broken(tally.total()));
            if (counts) {
              figures.add(workload, which, "acq/s", tally.perSecond());
              figures.add(workload, which, "switches/s", tally.perSecond(cell.threadSwitches()));
              figures.add(
                  workload, which, "process switches/s", tally.perSecond(cell.processSwitches()));
              figures.add(workload, which, "longest ms", tally.longestTakeMillis());
              figures.add(workload, which, "cpu µs", tally.cpuMicrosPerPair());
            }
          });
    }
  }

  /** One process gives a lock back while another waits for it. */
  void signal(Workload workload, List<Subjects> subjects) throws IOException, InterruptedException {
    try (Children children = new Children()) {
      start(children, 2);
      Child holder = children.all.get(0);
      Child waiter = children.all.get(1);
      rounds.play(
          workload,
          across(subjects),
          plan.rounds(),
          (which, counts) -> {
            String lock = rounds.lock(workload, which);
            Histogram micros = Race.histogram();
            for (int i = 0; i < plan.handOffs(); i++) {
              holder.ask("take", which, lock, Map.of());
              waiter.tell("take", which, lock, Map.of());
              // A random time, so that whoever polls is met at any point of its period.
              Thread.sleep(10 + random.nextInt(50));
              long given = Child.number(holder.ask("give", which, lock, Map.of()), "at");
              long taken = Child.number(waiter.answer(), "at");
              waiter.ask("give", which, lock, Map.of());
              if (taken < given) {
                figures.broken(workload, which, 1);
              }
              micros.recordValue(Math.max(0, taken - given));
            }
            if (counts) {
              figures.add(workload, which, "p50 µs", micros.getValueAtPercentile(50) / 1e3);
              figures.add(workload, which, "p99 µs", micros.getValueAtPercentile(99) / 1e3);
            }
          });
    }
  }

  /** A process waits for long while another holds: what the waiting itself costs. */
  void patience(Workload workload, List<Subjects> subjects)
      throws IOException, InterruptedException {
    try (Children children = new Children()) {
      start(children, 2);
      Child holder = children.all.get(0);
      Child waiter = children.all.get(1);
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
            Thread.sleep(plan.contendedMillis() * 2L);
            double share = 100.0 * (waiter.cpuNanos() - cpu) / (System.nanoTime() - from);
            holder.ask("give", which, lock, Map.of());
            waiter.answer();
            waiter.ask("give", which, lock, Map.of());
            if (counts) {
              figures.add(workload, which, "waiter cpu %", share);
            }
          });
    }
  }

  /** A process holds many locks, which must stay held by themselves. */
  void held(Workload workload, List<Subjects> subjects) throws IOException, InterruptedException {
    // Those in this process would renew their sessions meanwhile.
    rounds.close();
    List<Subjects> keepers = subjects.stream().filter(s -> s.is(Trait.KEEPS)).toList();
    for (Subjects which : keepers) {
      // Names of some 20 characters, alike for all.
      String lock = String.format("bench/%03d/held/", random.nextInt(1000));
      try (RedisFigures server = server(which);
          Children children = new Children()) {
        // The second has nothing to do: what its JVM takes all the same is no cost of the locks.
        start(children, 2);
        Child holder = children.all.get(0);
        holder.ask("connect", which, lock, Map.of());
        long memory = server == null ? 0 : server.usedMemory();
        long heap =
            Child.number(holder.ask("hold", which, lock, Map.of("count", plan.held())), "heap");
        if (server != null) {
          figures.add(
              workload,
              which,
              "server B/lock",
              (server.usedMemory() - memory) / (double) plan.held());
        }
        figures.add(workload, which, "heap B/lock", heap / (double) plan.held());
        watch(workload, which, server, holder, children.all.get(1));
      } catch (IOException e) {
        figures.note(workload, which, "failed: " + e);
      }
    }
  }

  private @Nullable RedisFigures server(Subjects which) {
    return which.place() == Place.REDIS ? new RedisFigures(stores.url(Place.REDIS)) : null;
  }

  private void watch(
      Workload workload, Subjects which, @Nullable RedisFigures server, Child holder, Child idle)
      throws IOException, InterruptedException {
    // Let what the many acquires have set going come to rest.
    Thread.sleep(SETTLE_MILLIS);
    Map<String, Long> before = server == null ? Map.of() : server.calls();
    long requests = server == null ? 0 : server.requests();
    long cpu = holder.cpuNanos() - idle.cpuNanos();
    long from = System.nanoTime();
    Thread.sleep(plan.heldSeconds() * 1000L);
    double seconds = (System.nanoTime() - from) / 1e9;
    long spent = holder.cpuNanos() - idle.cpuNanos() - cpu;
    figures.add(workload, which, "client cpu %", spent / 1e7 / seconds);
    if (server == null) {
      return;
    }
    // Less the one that asks.
    figures.add(workload, which, "requests/s", (server.requests() - requests - 1) / seconds);
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
    figures.add(workload, which, "commands/s", sum / seconds);
    figures.note(workload, which, "server commands in " + Math.round(seconds) + " s: " + calls);
  }
}
