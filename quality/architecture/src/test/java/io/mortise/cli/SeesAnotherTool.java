package io.mortise.cli;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesAnotherTool {
  /** A forbidden dependency. */
  public io.mortise.console.internal.http.AccessToken forbidden;
}
