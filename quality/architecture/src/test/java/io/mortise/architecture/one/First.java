package io.mortise.architecture.one;

/** Breaks a rule, for {@code RulesTest}. */
public final class First {
  /** A forbidden dependency. */
  public io.mortise.architecture.two.Second forbidden;
}
