package io.mortise.jdbc;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesAnotherStore {
  /** A forbidden dependency. */
  public io.mortise.redis.RedisFence forbidden;
}
