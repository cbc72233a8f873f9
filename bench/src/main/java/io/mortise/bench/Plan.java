package io.mortise.bench;

/**
 * How long everything takes.
 *
 * @param rounds how often each subject has its turn
 * @param millis one turn on one thread, or on threads that do not meet
 * @param contendedMillis one turn of threads or processes that meet
 * @param handOffs how often a lock is handed from process to process, in each round
 * @param held how many locks are held
 * @param heldSeconds how long they are watched
 */
record Plan(int rounds, int millis, int contendedMillis, int handOffs, int held, int heldSeconds) {
  /** About five minutes. */
  static final Plan QUICK = new Plan(3, 300, 600, 12, 10_000, 11);

  /** About twenty-five minutes. */
  static final Plan FULL = new Plan(7, 700, 1_500, 30, 10_000, 31);

  /** A second or two, to see that it works at all. */
  static final Plan SMOKE = new Plan(1, 30, 50, 2, 100, 1);
}
