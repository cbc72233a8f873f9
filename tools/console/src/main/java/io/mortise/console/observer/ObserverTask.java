package io.mortise.console.observer;

/** Something that an observer does again and again. */
abstract class ObserverTask {
  long lastRun = Long.MIN_VALUE;
  boolean unsupported;

  /** Nanoseconds until it is due; 0 or less if it is. */
  abstract long dueIn(long now);

  abstract void run(long now);

  abstract void restart();
}
