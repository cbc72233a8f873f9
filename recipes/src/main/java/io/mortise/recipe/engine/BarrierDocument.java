package io.mortise.recipe.engine;

import io.mortise.LockException;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.spi.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A barrier's state in the store: the gathering generation, the number of its arrivals, and the
 * earlier generations that were broken. As text: {@code 1 B <id> <parties> <generation> <arrived>
 * <last> <floor> <broken>}. Immutable.
 *
 * <p>A generation ends in one step: with its last arrival, or when it is broken. The next one
 * begins in the same step.
 *
 * @param id distinguishes two barriers of one name, if the first has expired
 * @param parties the number of parties that pass together
 * @param generation the gathering generation, from 1
 * @param arrived the number of its arrivals
 * @param last the latest arrival in any generation, so that a party recognises its own arrival when
 *     the answer is lost; {@code -} for none
 * @param floor the first generation that is still known
 * @param broken the known generations that were broken
 */
record BarrierDocument(
    String id,
    int parties,
    long generation,
    int arrived,
    String last,
    long floor,
    List<BrokenGeneration> broken) {
  private static final String HEAD = "1 B ";

  /** The maximum number of broken generations that are remembered. */
  static final int MOST_BROKEN = 64;

  /** A generation that did not pass. */
  record BrokenGeneration(long number, Reason reason) {
    private static BrokenGeneration decode(String text) {
      return new BrokenGeneration(
          Long.parseLong(text.substring(1)), PhaseState.reason(text.charAt(0)));
    }

    private String encode() {
      return PhaseState.code(reason) + Long.toString(number);
    }
  }

  BarrierDocument {
    broken = List.copyOf(broken);
  }

  static BarrierDocument first(String id, int parties) {
    return new BarrierDocument(id, parties, 1, 0, "-", 1, List.of());
  }

  /** The document after an arrival; the last arrival ends the generation. */
  BarrierDocument entered(String entrant) {
    boolean full = arrived + 1 == parties;
    return new BarrierDocument(
        id,
        parties,
        full ? generation + 1 : generation,
        full ? 0 : arrived + 1,
        entrant,
        floor,
        broken);
  }

  /** The document after a generation was broken; the same if it has ended. */
  BarrierDocument broken(long number, Reason reason) {
    if (number != generation) {
      return this;
    }
    List<BrokenGeneration> all = new ArrayList<>(broken);
    all.add(new BrokenGeneration(number, reason));
    long known = floor;
    if (all.size() > MOST_BROKEN) {
      known = all.remove(0).number() + 1;
    }
    return new BarrierDocument(id, parties, generation + 1, 0, last, known, all);
  }

  /**
   * The state of a generation that this party has entered. A store that has forgotten its latest
   * writes may have lost the party: its index then belongs to another.
   */
  PhaseState state(long number, int index) {
    return number == generation && arrived <= index
        ? PhaseState.broken(Reason.FORGOTTEN)
        : state(number);
  }

  /** The state of a generation that any party has entered. */
  PhaseState state(long number) {
    if (number == generation) {
      return PhaseState.OPEN;
    } else if (number > generation || number < floor) {
      return PhaseState.broken(Reason.FORGOTTEN);
    }
    return broken.stream()
        .filter(one -> one.number() == number)
        .findFirst()
        .map(one -> PhaseState.broken(one.reason()))
        .orElse(PhaseState.PASSED);
  }

  String encode() {
    return HEAD
        + Stream.of(id, parties, generation, arrived, last, floor)
            .map(String::valueOf)
            .collect(Collectors.joining(" "))
        + " "
        + broken.stream().map(BrokenGeneration::encode).collect(Collectors.joining(","));
  }

  /**
   * Decodes the store's text; empty if there is none.
   *
   * @throws LockException if another program or a later version wrote it, or if it has another
   *     number of parties
   */
  static Optional<BarrierDocument> decode(String name, int parties, Fact fact) {
    if (fact.content().isEmpty()) {
      return Optional.empty();
    }
    DocumentWords words = new DocumentWords("barrier '" + name + "'", fact.content(), HEAD, 7);
    if (words.number(1) != parties) {
      throw new LockException(
          "Barrier '%s' is in use by %s parties, not %s. Give all clients the same number."
              .formatted(name, words.number(1), parties));
    }
    try {
      List<BrokenGeneration> broken =
          words.text(6).isEmpty()
              ? List.of()
              : Stream.of(words.text(6).split(",", -1)).map(BrokenGeneration::decode).toList();
      return Optional.of(
          new BarrierDocument(
              words.text(0),
              parties,
              words.longNumber(2),
              words.number(3),
              words.text(4),
              words.longNumber(5),
              broken));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw words.unknown(e);
    }
  }
}
