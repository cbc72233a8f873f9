package io.mortise.bench;

import io.mortise.bench.subject.Subjects;
import java.util.Locale;

/** The workloads. Subjects are compared by the first measure of each. */
enum Workload {
  REENTRY("a thread locks again what it holds", "ns", false),
  PAIR("acquire and release, one thread, nobody else wants the lock", "p50 µs", false),
  GROUP_10(
      "one thread acquires ten free locks at once, and one by itself in turns", "p50 µs", false),
  CALL("a method under a lock, one thread, nobody else wants the lock", "cpu ns", false),
  APART_16("16 threads, each with a lock of its own", "pairs/s", true),
  APART_64("64 threads, each with a lock of its own", "pairs/s", true),
  THREADS_8("8 threads of one process, one lock", "acq/s", true),
  THREADS_64("64 threads of one process, one lock", "acq/s", true),
  PROCESSES("4 processes of 2 threads, one lock", "acq/s", true),
  SIGNAL("released in one process until held in another", "p50 µs", false),
  TURNS("two processes take and give one lock in turns, one turn", "p50 µs", false),
  CROWD_10("from one to the next, 10 threads of two clients want one lock", "hand-off µs", false),
  CROWD_5000("the same with 5,000 threads", "hand-off µs", false),
  PATIENCE("a process waits while another holds", "waiter cpu %", false),
  HELD("one process holds many locks, which stay held by themselves", "heap B/lock", false),
  IDLE("many sticky locks are idle when their client closes", "close ms", false);

  private final String title;
  private final String main;
  private final boolean moreIsBetter;

  Workload(String title, String main, boolean moreIsBetter) {
    this.title = title;
    this.main = main;
    this.moreIsBetter = moreIsBetter;
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String title() {
    return title;
  }

  String main() {
    return main;
  }

  /** Returns the factor by which one subject beats the other; NaN if one was not measured. */
  double advantage(BenchResults benchResults, Subjects one, Subjects other) {
    double mine = benchResults.median(this, one, main);
    double theirs = benchResults.median(this, other, main);
    return moreIsBetter ? mine / theirs : theirs / mine;
  }
}
