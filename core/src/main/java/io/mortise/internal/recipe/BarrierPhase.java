package io.mortise.internal.recipe;

import io.mortise.LockName;
import io.mortise.recipe.BarrierBrokenException.Reason;
import io.mortise.spi.Fact;
import java.time.Duration;
import java.util.Optional;

/**
 * A party's entering or leaving of a generation, as a pure view of the document that tells of it.
 */
sealed interface BarrierPhase {
  /** Of which neighbour to wait for the end; none. */
  int NOBODY = -1;

  /** How long the store keeps a phase that has ended, so that all of its parties see how. */
  Duration ENDED = Duration.ofMinutes(10);

  /** Which party. */
  BarrierTicket ticket();

  /** Where the document is. */
  LockName fact();

  /**
   * How long the store keeps the document while the phase is open; a quarter of it is refreshed.
   */
  Duration keep();

  /** Where it stands. */
  PhaseState state(Fact present);

  /** The index of the party whose end this one is to notice. */
  int neighbour(Fact present);

  /** The text after it was broken; empty if it has ended. */
  Optional<String> broken(Fact present, Reason reason);

  /** What it is, in messages. */
  String text();

  /** Who comes to which generation of which barrier. */
  record BarrierTicket(String name, int parties, String id, long generation, int index) {
    /** The name of the lock that a party of this generation holds. */
    String slot(int party) {
      return "barrier/%s/%s/%d/%d".formatted(name, id, generation, party);
    }
  }

  /** Until the last party has come. */
  record Entering(BarrierTicket ticket, LockName fact) implements BarrierPhase {
    /** Short: if all that wait have died, nobody may pass with them. */
    static final Duration KEEP = Duration.ofSeconds(20);

    private Optional<BarrierDocument> document(Fact present) {
      return BarrierDocument.decode(ticket.name(), ticket.parties(), present)
          .filter(found -> found.id().equals(ticket.id()));
    }

    @Override
    public Duration keep() {
      return KEEP;
    }

    @Override
    public PhaseState state(Fact present) {
      return document(present)
          .map(found -> found.state(ticket.generation(), ticket.index()))
          .orElse(PhaseState.broken(Reason.FORGOTTEN));
    }

    @Override
    public int neighbour(Fact present) {
      int arrived = document(present).map(BarrierDocument::arrived).orElse(0);
      if (ticket.index() > 0) {
        return ticket.index() - 1;
      }
      return arrived > 1 ? arrived - 1 : NOBODY;
    }

    @Override
    public Optional<String> broken(Fact present, Reason reason) {
      return document(present)
          .filter(found -> found.state(ticket.generation(), ticket.index()).isOpen())
          .map(found -> found.broken(ticket.generation(), reason).encode());
    }

    @Override
    public String text() {
      return "Generation %d of barrier '%s'".formatted(ticket.generation(), ticket.name());
    }
  }

  /** Until the last party wants to leave. */
  record Leaving(BarrierTicket ticket, LockName fact) implements BarrierPhase {
    private static final Duration KEEP = Duration.ofDays(1);

    static Leaving of(BarrierTicket ticket) {
      return new Leaving(
          ticket,
          LockName.of(
              "barrier/%s/%s/%d/leave".formatted(ticket.name(), ticket.id(), ticket.generation())));
    }

    private Optional<LeaveDocument> document(Fact present) {
      return LeaveDocument.decode(ticket.name(), present);
    }

    /** The text after this party wanted to leave; empty if it did before, or if it is broken. */
    Optional<String> left(Fact present) {
      LeaveDocument before =
          document(present).orElseGet(() -> LeaveDocument.first(ticket.parties()));
      LeaveDocument after = before.left(ticket.index());
      return after.equals(before) ? Optional.empty() : Optional.of(after.encode());
    }

    @Override
    public Duration keep() {
      return KEEP;
    }

    @Override
    public PhaseState state(Fact present) {
      return document(present)
          .map(LeaveDocument::state)
          .orElse(PhaseState.broken(Reason.FORGOTTEN));
    }

    @Override
    public int neighbour(Fact present) {
      return ticket.parties() == 1 ? NOBODY : Math.floorMod(ticket.index() - 1, ticket.parties());
    }

    @Override
    public Optional<String> broken(Fact present, Reason reason) {
      LeaveDocument before =
          document(present).orElseGet(() -> LeaveDocument.first(ticket.parties()));
      LeaveDocument after = before.broken(reason);
      return after.equals(before) ? Optional.empty() : Optional.of(after.encode());
    }

    @Override
    public String text() {
      return "Leaving generation %d of barrier '%s'".formatted(ticket.generation(), ticket.name());
    }
  }
}
