package io.mortise.bench;

import io.mortise.bench.subject.Stores;
import io.mortise.bench.subject.Subject;
import io.mortise.bench.subject.Subjects;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Lets subjects take turns, in a new order each round, so that whatever else the machine does hits
 * all of them alike; only what is measured in one run can be compared. A first round warms up and
 * is not counted.
 */
final class Rounds implements AutoCloseable {
  private final Stores stores;
  private final Figures figures;
  private final Random random = new Random(20_26);
  private final Map<Subjects, Subject> open = new EnumMap<>(Subjects.class);
  private final Set<Subjects> unfit = EnumSet.noneOf(Subjects.class);
  private final String run = Long.toString(ProcessHandle.current().pid(), 36);

  Rounds(Stores stores, Figures figures) {
    this.stores = stores;
    this.figures = figures;
  }

  /** One turn. */
  interface Turn {
    void take(Subjects subject, boolean counts) throws Exception;
  }

  void play(Workload workload, List<Subjects> subjects, int rounds, Turn turn)
      throws InterruptedException {
    for (int round = 0; round <= rounds; round++) {
      List<Subjects> order = new ArrayList<>(subjects);
      order.removeAll(unfit);
      Collections.shuffle(order, random);
      for (Subjects subject : order) {
        try {
          turn.take(subject, round > 0);
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          // One library that fails must not cost the figures of the others.
          figures.note(workload, subject, "failed and was left out of the rest: " + e.getMessage());
          unfit.add(subject);
        }
      }
    }
    unfit.clear();
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

  /** A lock name that nobody else uses, nor another run. */
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
            figures.note(Workload.PAIR, which, "did not close: " + e);
          }
        });
    open.clear();
  }
}
