package io.mortise.testkit.history;

import java.util.List;

/**
 * A broken rule in a history.
 *
 * @param rule a short name of the rule, the same for all its violations
 * @param lock the lock it was broken on
 * @param message a description with numbers
 * @param attempts the attempts that took part
 */
public record Violation(String rule, String lock, String message, List<String> attempts) {
  /** Copies the list. */
  public Violation {
    attempts = List.copyOf(attempts);
  }
}
