package io.mortise.bench;

import java.time.Duration;

/**
 * Durations and counts of a run.
 *
 * @param warmUp how long each subject runs uncounted, in each workload. Code not yet compiled would
 *     make larger libraries look slower
 * @param rounds the number of turns of each subject
 * @param millis one turn on one thread, or on threads without contention
 * @param contendedMillis one turn of contending threads or processes
 * @param handOffs hand-offs between processes, in each round
 * @param held the number of held locks
 * @param heldSeconds how long the held locks are observed
 */
record BenchPlan(
    Duration warmUp,
    int rounds,
    int millis,
    int contendedMillis,
    int handOffs,
    int held,
    int heldSeconds) {
  /** Takes about five minutes, with hardly any warm-up. */
  static final BenchPlan QUICK = new BenchPlan(Duration.ZERO, 3, 300, 600, 12, 10_000, 11);

  /** Takes about thirty-five minutes. */
  static final BenchPlan FULL = new BenchPlan(Duration.ofSeconds(6), 7, 700, 1_500, 30, 10_000, 31);

  /** Takes a second or two: a smoke test of the bench itself. */
  static final BenchPlan SMOKE = new BenchPlan(Duration.ZERO, 1, 30, 50, 2, 100, 1);
}
