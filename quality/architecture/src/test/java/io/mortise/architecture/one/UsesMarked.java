package io.mortise.architecture.one;

/** Breaks a rule, for {@code RulesTest}. */
public final class UsesMarked {
  /** What it must not know, since it bears a mark of this package. */
  public io.mortise.architecture.two.Marked forbidden;
}
