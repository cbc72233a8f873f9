package io.mortise.bench;

import java.time.Duration;

/**
 * How long everything takes.
 *
 * @param warmUp how long each subject runs before anything counts, in each workload: code that is
 *     not compiled yet makes a library look as slow as it has much of it
 * @param rounds how often each subject has its turn
 * @param millis one turn on one thread, or on threads that do not meet
 * @param contendedMillis one turn of threads or processes that meet
 * @param handOffs how often a lock is handed from process to process, in each round
 * @param held how many locks are held
 * @param heldSeconds how long they are watched
 */
record BenchPlan(
    Duration warmUp,
    int rounds,
    int millis,
    int contendedMillis,
    int handOffs,
    int held,
    int heldSeconds) {
  /** About five minutes; hardly warmed up. */
  static final BenchPlan QUICK = new BenchPlan(Duration.ZERO, 3, 300, 600, 12, 10_000, 11);

  /** About thirty-five minutes. */
  static final BenchPlan FULL = new BenchPlan(Duration.ofSeconds(6), 7, 700, 1_500, 30, 10_000, 31);

  /** A second or two, to see that it works at all. */
  static final BenchPlan SMOKE = new BenchPlan(Duration.ZERO, 1, 30, 50, 2, 100, 1);
}
