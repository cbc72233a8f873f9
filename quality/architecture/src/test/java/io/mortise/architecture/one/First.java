package io.mortise.architecture.one;

/** Breaks a rule, for {@code RulesTest}. */
public final class First {
  /** What it must not know. */
  public io.mortise.architecture.two.Second forbidden;
}
