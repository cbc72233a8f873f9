package io.mortise.guarantee;

import io.mortise.annotation.Beta;

/** What becomes of locks under a fault: the words of the guarantee table, best first. */
@Beta
public enum GuaranteeLevel {
  /** Nothing there that could have the fault. */
  NONE("does not occur", "There is nothing that could have this fault."),
  /** Nobody notices, and no two hold. */
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
  /** Two may hold, and nothing tells. */
  UNNOTICED(
      "may go unnoticed",
      "Two may believe that they hold, and their tokens need not tell them apart.");

  private final String words;
  private final String meaning;

  GuaranteeLevel(String words, String meaning) {
    this.words = words;
    this.meaning = meaning;
  }

  /** In two or three words. */
  public String words() {
    return words;
  }

  /** In a sentence. */
  public String meaning() {
    return meaning;
  }
}
