package io.mortise.recipe.engine;

import io.mortise.LockException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.spi.Fact;
import java.math.BigInteger;
import java.util.Optional;

/**
 * The parties of a barrier's generation that want to leave it. As text: {@code 1 V <parties>
 * <reason> <left>}, the last a hexadecimal number with a bit for each party. Immutable.
 *
 * @param parties the number of parties that leave together
 * @param left the parties that want to, by their index
 * @param state the state of the leaving
 */
record LeaveDocument(int parties, BigInteger left, PhaseState state) {
  private static final String HEAD = "1 V ";
  private static final int HEXADECIMAL = 16;

  static LeaveDocument first(int parties) {
    return new LeaveDocument(parties, BigInteger.ZERO, PhaseState.OPEN);
  }

  private static PhaseState passedIfAll(int parties, BigInteger left) {
    return left.bitCount() == parties ? PhaseState.PASSED : PhaseState.OPEN;
  }

  /** The document after a party wanted to leave; the same if it did before, or if it is broken. */
  LeaveDocument left(int index) {
    if (!state.isOpen()) {
      return this;
    }
    BigInteger next = left.setBit(index);
    return new LeaveDocument(parties, next, passedIfAll(parties, next));
  }

  /** The document after the leaving was broken; the same if it has ended before. */
  LeaveDocument broken(Reason reason) {
    return state.isOpen() ? new LeaveDocument(parties, left, PhaseState.broken(reason)) : this;
  }

  String encode() {
    Reason reason = state.reason();
    return HEAD
        + parties
        + " "
        + (reason == null ? "-" : PhaseState.code(reason))
        + " "
        + left.toString(HEXADECIMAL);
  }

  /**
   * Decodes the store's text; empty if there is none.
   *
   * @throws LockException if another program wrote it
   */
  static Optional<LeaveDocument> decode(String name, Fact fact) {
    if (fact.content().isEmpty()) {
      return Optional.empty();
    }
    DocumentWords words = new DocumentWords("barrier '" + name + "'", fact.content(), HEAD, 3);
    try {
      int parties = words.number(0);
      BigInteger left = new BigInteger(words.text(2), HEXADECIMAL);
      PhaseState state =
          words.text(1).equals("-")
              ? passedIfAll(parties, left)
              : PhaseState.broken(PhaseState.reason(words.text(1).charAt(0)));
      return Optional.of(new LeaveDocument(parties, left, state));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw words.unknown(e);
    }
  }
}
