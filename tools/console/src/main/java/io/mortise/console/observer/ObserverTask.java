package io.mortise.console.observer;

/** A repeated task of an observer. */
abstract class ObserverTask {
  long lastRun = Long.MIN_VALUE;
  boolean unsupported;

  /** Nanoseconds until it is due; 0 or less if it is. */
  abstract long dueIn(long now);

  abstract void run(long now);

  abstract void restart();
}
