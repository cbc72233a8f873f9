package io.mortise.admin;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesSpi {
  /** A forbidden dependency. */
  public io.mortise.spi.LockStore forbidden;
}
