package io.mortise.cli;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesTheEngine {
  /** A forbidden dependency. */
  public io.mortise.internal.client.EngineClient forbidden;
}
