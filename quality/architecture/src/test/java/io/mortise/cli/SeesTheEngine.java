package io.mortise.cli;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesTheEngine {
  /** What it must not know. */
  public io.mortise.internal.client.EngineClient forbidden;
}
