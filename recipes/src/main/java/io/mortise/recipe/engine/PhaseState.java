package io.mortise.recipe.engine;

import io.mortise.recipe.BarrierBrokenException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Where the entering or leaving of a generation stands.
 *
 * @param isOpen parties are still missing
 * @param reason what broke it; null if nothing did
 */
record PhaseState(boolean isOpen, @Nullable Reason reason) {
  static final PhaseState OPEN = new PhaseState(true, null);

  /** All parties were there. */
  static final PhaseState PASSED = new PhaseState(false, null);

  static PhaseState broken(Reason reason) {
    return new PhaseState(false, reason);
  }

  /** One character for a reason, in documents. */
  static char code(Reason reason) {
    return switch (reason) {
      case TIMED_OUT -> 'T';
      case CANCELLED -> 'C';
      case PARTY_LOST -> 'L';
      case FORGOTTEN -> 'F';
    };
  }

  /**
   * The reason that a character stands for.
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
