package io.mortise.micrometer;

/** Breaks a rule, for {@code RulesTest}. */
public final class MetersTheEngine {
  /** What it must not know. */
  public io.mortise.internal.engine.Engine forbidden;
}
