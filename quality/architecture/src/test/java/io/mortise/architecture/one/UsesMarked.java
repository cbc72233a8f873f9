package io.mortise.architecture.one;

/** Breaks a rule, for {@code RulesTest}. */
public final class UsesMarked {
  /** A forbidden dependency: the type bears an annotation of this package. */
  public io.mortise.architecture.two.Marked forbidden;
}
