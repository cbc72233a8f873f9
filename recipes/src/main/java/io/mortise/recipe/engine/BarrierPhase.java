package io.mortise.recipe.engine;

import io.mortise.LockName;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.spi.Fact;
import java.time.Duration;
import java.util.Optional;

/** A party's entering or leaving of a generation, as a pure view of its document. */
sealed interface BarrierPhase {
  /** No neighbour to wait for. */
  int NOBODY = -1;

  /** How long the store keeps an ended phase, so that all of its parties see the outcome. */
  Duration ENDED = Duration.ofMinutes(10);

  /** The party with its generation. */
  BarrierParty party();

  /** The name of the document. */
  LockName fact();

  /** How long the store keeps the document of an open phase; refreshed after a quarter of that. */
  Duration keep();

  /** The state of the phase. */
  PhaseState state(Fact present);

  /** The index of the party whose end this party has to notice. */
  int neighbour(Fact present);

  /** The text after the phase was broken; empty if it has ended. */
  Optional<String> broken(Fact present, Reason reason);

  /** The phase's name in messages. */
  String text();

  /** A party of a generation of a barrier, by the index of its arrival. */
  record BarrierParty(String name, int parties, String id, long generation, int index) {
    /** The name of the lock that a party of this generation holds. */
    String lockOf(int party) {
      return "barrier/%s/%s/%s/%s".formatted(name, id, generation, party);
    }
  }

  /** The phase until the last party has arrived. */
  record Entering(BarrierParty party, LockName fact) implements BarrierPhase {
    /** Short: if all waiting parties have died, no later party may pass with them. */
    static final Duration KEEP = Duration.ofSeconds(20);

    private Optional<BarrierDocument> document(Fact present) {
      return BarrierDocument.decode(party.name(), party.parties(), present)
          .filter(found -> found.id().equals(party.id()));
    }

    @Override
    public Duration keep() {
      return KEEP;
    }

    @Override
    public PhaseState state(Fact present) {
      return document(present)
          .map(found -> found.state(party.generation(), party.index()))
          .orElse(PhaseState.broken(Reason.FORGOTTEN));
    }

    @Override
    public int neighbour(Fact present) {
      int arrived = document(present).map(BarrierDocument::arrived).orElse(0);
      if (party.index() > 0) {
        return party.index() - 1;
      }
      return arrived > 1 ? arrived - 1 : NOBODY;
    }

    @Override
    public Optional<String> broken(Fact present, Reason reason) {
      return document(present)
          .filter(found -> found.state(party.generation(), party.index()).isOpen())
          .map(found -> found.broken(party.generation(), reason).encode());
    }

    @Override
    public String text() {
      return "Generation %s of barrier '%s'".formatted(party.generation(), party.name());
    }
  }

  /** The phase until the last party wants to leave. */
  record Leaving(BarrierParty party, LockName fact) implements BarrierPhase {
    private static final Duration KEEP = Duration.ofDays(1);

    static Leaving of(BarrierParty party) {
      return new Leaving(
          party,
          LockName.of(
              "barrier/%s/%s/%s/leave".formatted(party.name(), party.id(), party.generation())));
    }

    private Optional<LeaveDocument> document(Fact present) {
      return LeaveDocument.decode(party.name(), present);
    }

    /**
     * The text after this party wanted to leave; empty if it did before, or the phase is broken.
     */
    Optional<String> left(Fact present) {
      LeaveDocument before =
          document(present).orElseGet(() -> LeaveDocument.first(party.parties()));
      LeaveDocument after = before.left(party.index());
      return after.equals(before) ? Optional.empty() : Optional.of(after.encode());
    }

    @Override
    public Duration keep() {
      return KEEP;
    }

    /** The time to keep a text: the party that leaves last ends the phase. */
    Duration keepOf(String content) {
      return state(new Fact(1, content)).isOpen() ? KEEP : ENDED;
    }

    @Override
    public PhaseState state(Fact present) {
      return document(present)
          .map(LeaveDocument::state)
          .orElse(PhaseState.broken(Reason.FORGOTTEN));
    }

    @Override
    public int neighbour(Fact present) {
      return party.parties() == 1 ? NOBODY : Math.floorMod(party.index() - 1, party.parties());
    }

    @Override
    public Optional<String> broken(Fact present, Reason reason) {
      LeaveDocument before =
          document(present).orElseGet(() -> LeaveDocument.first(party.parties()));
      LeaveDocument after = before.broken(reason);
      return after.equals(before) ? Optional.empty() : Optional.of(after.encode());
    }

    @Override
    public String text() {
      return "Leaving generation %s of barrier '%s'".formatted(party.generation(), party.name());
    }
  }
}
