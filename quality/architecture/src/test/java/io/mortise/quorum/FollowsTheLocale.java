package io.mortise.quorum;

/** Breaks a rule, for {@code RulesTest}. */
public final class FollowsTheLocale {
  /** In Turkish, {@code I} becomes a dotless {@code ı}. */
  @SuppressWarnings("StringCaseLocaleUsage") // the example
  public String lowered(String key) {
    return key.toLowerCase();
  }
}
