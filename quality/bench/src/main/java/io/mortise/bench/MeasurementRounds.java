package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subjects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Lets subjects take turns, in a new order each round, so that other work of the machine affects
 * all of them alike. Figures of different runs are not comparable. The first rounds warm up and are
 * not counted.
 */
final class MeasurementRounds implements AutoCloseable {
  private final StoreUrls stores;
  private final BenchResults benchResults;
  private final Duration warmUp;
  private final Random random = new Random(20_26);
  private final Map<Subjects, Subject> open = new EnumMap<>(Subjects.class);
  private final Set<Subjects> unfit = EnumSet.noneOf(Subjects.class);
  private final String run = Long.toString(ProcessHandle.current().pid(), 36);

  /**
   * Measures subjects on these stores.
   *
   * @param warmUp how long each subject runs at least before anything counts
   */
  MeasurementRounds(StoreUrls stores, BenchResults benchResults, Duration warmUp) {
    this.stores = stores;
    this.benchResults = benchResults;
    this.warmUp = warmUp;
  }

  /** One turn. */
  interface Measurement {
    void take(Subjects subject, boolean counts) throws Exception;
  }

  void play(Workload workload, List<Subjects> subjects, int rounds, Measurement measurement)
      throws InterruptedException {
    long warm = System.nanoTime() + warmUp.multipliedBy(subjects.size()).toNanos();
    do {
      playOnce(workload, subjects, measurement, false);
    } while (System.nanoTime() < warm && !unfit.containsAll(subjects));
    for (int round = 0; round < rounds; round++) {
      playOnce(workload, subjects, measurement, true);
    }
    unfit.clear();
  }

  private void playOnce(
      Workload workload, List<Subjects> subjects, Measurement measurement, boolean counts)
      throws InterruptedException {
    List<Subjects> order = new ArrayList<>(subjects);
    order.removeAll(unfit);
    Collections.shuffle(order, random);
    for (Subjects subject : order) {
      try {
        measurement.take(subject, counts);
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        // The failure of one library must not discard the figures of the others.
        benchResults.note(
            workload, subject, "failed and was left out of the rest: " + e.getMessage());
        unfit.add(subject);
      }
    }
  }

  /** The subject in this process, opened on first use. */
  Subject here(Subjects subject) throws Exception {
    Subject present = open.get(subject);
    if (present == null) {
      present = subject.open(stores);
      open.put(subject, present);
    }
    return present;
  }

  /** A lock name that no other subject and no other run uses. */
  String lock(Workload workload, Subjects subject) {
    return "bench/" + run + "/" + workload.label() + "/" + subject.label();
  }

  @Override
  public void close() {
    open.forEach(
        (which, subject) -> {
          try {
            subject.close();
          } catch (RuntimeException e) {
            benchResults.note(Workload.PAIR, which, "did not close: " + e);
          }
        });
    open.clear();
  }
}
