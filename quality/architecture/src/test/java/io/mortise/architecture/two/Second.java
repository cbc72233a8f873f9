package io.mortise.architecture.two;

/** Breaks a rule, for {@code RulesTest}. */
public final class Second {
  /** A forbidden dependency. */
  public io.mortise.architecture.one.First forbidden;
}
