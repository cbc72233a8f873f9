package io.mortise.quorum;

/** Has the name of another type, as has the type in it, for {@code RulesTest}. */
public final class LockClient {
  /** Has the name of a type of the API. */
  public static final class Lease {}
}
