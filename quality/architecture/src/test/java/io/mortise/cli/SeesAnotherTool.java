package io.mortise.cli;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesAnotherTool {
  /** What it must not know. */
  public io.mortise.console.internal.http.AccessToken forbidden;
}
