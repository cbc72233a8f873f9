package io.mortise.recipe.engine;

import io.mortise.recipe.BarrierBrokenException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The state of the entering or leaving of a generation.
 *
 * @param isOpen whether parties are still missing
 * @param reason the reason why it broke; null if it did not
 */
record PhaseState(boolean isOpen, @Nullable Reason reason) {
  static final PhaseState OPEN = new PhaseState(true, null);

  /** All parties arrived. */
  static final PhaseState PASSED = new PhaseState(false, null);

  static PhaseState broken(Reason reason) {
    return new PhaseState(false, reason);
  }

  /** The character of a reason in documents. */
  static char code(Reason reason) {
    return switch (reason) {
      case TIMED_OUT -> 'T';
      case CANCELLED -> 'C';
      case PARTY_LOST -> 'L';
      case FORGOTTEN -> 'F';
    };
  }

  /**
   * The reason of a character.
   *
   * @throws IllegalArgumentException if it stands for none
   */
  static Reason reason(char code) {
    for (Reason reason : Reason.values()) {
      if (code(reason) == code) {
        return reason;
      }
    }
    throw new IllegalArgumentException("No reason is written as '" + code + "'.");
  }
}
