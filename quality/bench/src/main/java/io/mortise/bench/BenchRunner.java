package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subjects;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Runs the chosen workloads one after the other. */
final class BenchRunner {
  private final BenchPlan benchPlan;
  private final StoreUrls stores;
  private final List<Subjects> subjects;
  private final Set<Workload> workloads;
  private final PrintWriter progress;

  BenchRunner(
      BenchPlan benchPlan,
      StoreUrls stores,
      List<Subjects> subjects,
      Set<Workload> workloads,
      PrintWriter progress) {
    this.benchPlan = benchPlan;
    this.stores = stores;
    this.subjects = subjects;
    this.workloads = workloads;
    this.progress = progress;
  }

  BenchResults run(Path folder) throws IOException, InterruptedException {
    BenchResults benchResults = new BenchResults();
    Path cell = folder.resolve("cell");
    try (MeasurementRounds measurementRounds =
        new MeasurementRounds(stores, benchResults, benchPlan.warmUp())) {
      ThreadWorkloads threads = new ThreadWorkloads(measurementRounds, benchResults, benchPlan);
      ProcessWorkloads processes =
          new ProcessWorkloads(measurementRounds, benchResults, benchPlan, stores, cell);
      QueueWorkload crowds = new QueueWorkload(measurementRounds, benchResults, benchPlan, stores);
      for (Workload workload : workloads) {
        long from = System.nanoTime();
        progress.print(workload.label() + " … ");
        progress.flush();
        run(workload, threads, processes, crowds);
        progress.printf(Locale.ROOT, "%.0f s%n", (System.nanoTime() - from) / 1e9);
      }
    } finally {
      Files.deleteIfExists(cell);
    }
    return benchResults;
  }

  private void run(
      Workload workload, ThreadWorkloads threads, ProcessWorkloads processes, QueueWorkload crowds)
      throws IOException, InterruptedException {
    switch (workload) {
      case REENTRY -> threads.reentry(workload, subjects);
      case PAIR -> threads.apart(workload, subjects, 1);
      case GROUP_10 -> threads.group(workload, subjects, 10);
      case CALL -> threads.call(workload, subjects);
      case APART_16 -> threads.apart(workload, subjects, 16);
      case APART_64 -> threads.apart(workload, subjects, 64);
      case THREADS_8 -> threads.together(workload, subjects, 8);
      case THREADS_64 -> threads.together(workload, subjects, 64);
      case PROCESSES -> processes.together(workload, subjects);
      case SIGNAL -> processes.signal(workload, subjects);
      case TURNS -> processes.turns(workload, subjects);
      case CROWD_10 -> crowds.play(workload, subjects, 10);
      case CROWD_5000 -> crowds.play(workload, subjects, 5_000);
      case PATIENCE -> processes.patience(workload, subjects);
      case HELD -> processes.held(workload, subjects);
      case IDLE -> threads.idle(workload, subjects, stores);
    }
  }
}
