package io.mortise.architecture.two;

/** Breaks a rule, for {@code RulesTest}. */
public final class Second {
  /** What it must not know. */
  public io.mortise.architecture.one.First forbidden;
}
