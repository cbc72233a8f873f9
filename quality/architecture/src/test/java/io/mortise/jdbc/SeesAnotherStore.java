package io.mortise.jdbc;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesAnotherStore {
  /** What it must not know. */
  public io.mortise.redis.RedisFence forbidden;
}
