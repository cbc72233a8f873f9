package io.mortise.admin;

/** Breaks a rule, for {@code RulesTest}. */
public final class SeesSpi {
  /** What it must not know. */
  public io.mortise.spi.LockStore forbidden;
}
