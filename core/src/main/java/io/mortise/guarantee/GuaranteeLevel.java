package io.mortise.guarantee;

import io.mortise.annotation.Beta;

/** The effects of a fault on locks: the words of the guarantee table, best first. */
@Beta
public enum GuaranteeLevel {
  /** The store has no part that could have the fault. */
  NONE("does not occur", "There is nothing that could have this fault."),
  /** No two hold, and no waiter is delayed. */
  SAFE("safe", "No two holders believe that they hold, and nobody waits longer for it."),
  /** No two hold; others wait longer. */
  DELAYED(
      "only delayed",
      "No two holders believe that they hold. Others wait, for a TTL and a moment unless it says more."),
  /** Two may hold; their tokens tell them apart. */
  DETECTED(
      "detected by token",
      "Two may believe that they hold for a while. The later one's token is greater, so a resource that compares"
          + " tokens refuses the earlier one."),
  /** Two may hold, and nothing reveals it. */
  UNNOTICED(
      "may go unnoticed",
      "Two may believe that they hold, and their tokens need not tell them apart.");

  private final String words;
  private final String meaning;

  GuaranteeLevel(String words, String meaning) {
    this.words = words;
    this.meaning = meaning;
  }

  /** The level in two or three words. */
  public String words() {
    return words;
  }

  /** The level in a sentence. */
  public String meaning() {
    return meaning;
  }
}
