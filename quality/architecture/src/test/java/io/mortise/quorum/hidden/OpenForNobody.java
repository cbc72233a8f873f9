package io.mortise.quorum.hidden;

/** Breaks a rule, for {@code RulesTest}. */
public final class OpenForNobody {
  /** For nobody. */
  public void open() {}
}
