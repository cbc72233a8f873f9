package io.mortise.micrometer;

/** Breaks a rule, for {@code RulesTest}. */
public final class MetersTheEngine {
  /** A forbidden dependency. */
  public io.mortise.internal.engine.Engine forbidden;
}
