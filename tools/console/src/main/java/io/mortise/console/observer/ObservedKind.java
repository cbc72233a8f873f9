package io.mortise.console.observer;

import java.util.Locale;

/** Kinds of observed events. */
public enum ObservedKind {
  GRANTED,
  RELEASED,
  /** A hold has ended for an unknown reason. */
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

  /** Its name for programs. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
