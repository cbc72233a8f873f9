package io.mortise.console.observer;

import java.util.Locale;

/** What can be seen to happen. */
public enum ObservedKind {
  GRANTED,
  RELEASED,
  /** A hold has ended, and nobody knows how. */
  ENDED,
  LOST,
  EVICTED,
  BROKEN,
  WAITING,
  GAVE_UP,
  SHUT,
  OPENED,
  SESSION_BEGAN,
  SESSION_OVER,
  GAP;

  /** For programs. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
