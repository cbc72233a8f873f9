package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import io.mortise.verification.model.PackedState.PackedStateBuilder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A process looks for the call-back of its idle grant, where no push arrives: the engine's {@code
 * CallBackPoll}. One thread closes and retakes the lock, another runs the timer and the answers.
 * Looks fail, and a renewal brings the note as well.
 *
 * <p>Violations: an idle grant is called back, and no look is to come; a due look is left out; an
 * idle grant is taken although the last look failed.
 */
final class CallBackPollModel implements Model<PackedState> {
  private static final int PHASE = 0;
  private static final int TAKES = 1;

  /** The note in the session's document: not left yet, left, heard. */
  private static final int NOTE = 2;

  /** Whether a look is said to be scheduled or in flight. */
  private static final int BEGUN = 3;

  private static final int TIMER = 4;
  private static final int LOOK = 5;

  /** How far the thread is that handles the answer to a look. */
  private static final int AFTER = 6;

  /** A look failed, and no renewal was confirmed since. */
  private static final int UNCONFIRMED = 7;

  private static final int LEFT_OUT = 8;
  private static final int TAKEN_UNHEARD = 9;
  private static final int CELLS = 10;

  private static final int BUSY = 0;
  private static final int IDLE = 1;
  private static final int GIVEN_BACK = 2;

  private static final int LEFT = 1;
  private static final int HEARD = 2;

  private static final int SENT = 1;
  private static final int NOTHING_FOUND = 2;
  private static final int NOTE_FOUND = 3;

  private static final int ANSWERED = 1;
  private static final int CLEARED = 2;
  private static final int CHECKED = 3;

  private final Variant variant;
  private final int takes;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** A look that finds the lock in use is left out. */
    LEAVES_OUT_IN_USE,
    /** The next look is decided on before it can be begun by a close. */
    CHECKS_BEFORE_CLEARING,
    /** A look that fails is the last. */
    ENDS_WITH_FAILURE,
    /** Only a close begins a look. */
    LOOKS_ONCE,
    /** An idle grant is taken after a failed look. */
    TAKES_AFTER_FAILURE
  }

  CallBackPollModel(Variant variant, int takes) {
    this.variant = variant;
    this.takes = takes;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(CELLS);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    if (state.get(LEFT_OUT) == 1) {
      return "a look is left out";
    } else if (state.get(TAKEN_UNHEARD) == 1) {
      return "an idle grant is taken after a failed look";
    }
    boolean looks = state.get(TIMER) != 0 || state.get(LOOK) != 0 || state.get(AFTER) != 0;
    return state.get(PHASE) == IDLE && state.get(NOTE) == LEFT && !looks
        ? "an idle grant is called back, and nobody looks"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    owner(state, step);
    look(state, step);
    if (state.get(NOTE) == 0 && state.get(PHASE) != GIVEN_BACK) {
      step.accept("a contender leaves its note", state.with(NOTE, LEFT));
    }
    if (state.get(UNCONFIRMED) == 1) {
      step.accept("a renewal is confirmed", heard(state.draft().set(UNCONFIRMED, 0)).done());
    }
  }

  private void owner(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(PHASE) == BUSY) {
      PackedStateBuilder next = state.draft();
      if (state.get(NOTE) == HEARD) {
        next.set(PHASE, GIVEN_BACK);
      } else {
        next.set(PHASE, IDLE);
        begin(next);
      }
      step.accept("the lease is closed", next.done());
    } else if (state.get(PHASE) == IDLE && state.get(TAKES) < takes) {
      boolean unheard = state.get(UNCONFIRMED) == 1;
      if (!unheard || variant == Variant.TAKES_AFTER_FAILURE) {
        step.accept(
            "the idle grant is taken",
            state
                .draft()
                .set(PHASE, BUSY)
                .set(TAKES, state.get(TAKES) + 1)
                .set(TAKEN_UNHEARD, unheard ? 1 : 0)
                .done());
      }
    }
  }

  private static void begin(PackedStateBuilder next) {
    if (next.get(BEGUN) == 0) {
      next.set(BEGUN, 1).set(TIMER, 1);
    }
  }

  private void look(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(TIMER) == 1) {
      boolean leavesOut = variant == Variant.LEAVES_OUT_IN_USE && state.get(PHASE) == BUSY;
      step.accept(
          "the timer runs",
          leavesOut
              ? state
                  .draft()
                  .set(TIMER, 0)
                  .set(BEGUN, 0)
                  .set(LEFT_OUT, state.get(NOTE) == LEFT ? 1 : 0)
                  .done()
              : state.draft().set(TIMER, 0).set(LOOK, SENT).done());
    }
    if (state.get(LOOK) == SENT) {
      step.accept(
          "the document is read",
          state.with(LOOK, state.get(NOTE) == LEFT ? NOTE_FOUND : NOTHING_FOUND));
    } else if (state.get(LOOK) != 0) {
      PackedStateBuilder next = state.draft().set(LOOK, 0).set(AFTER, ANSWERED);
      step.accept(
          "the answer arrives", (state.get(LOOK) == NOTE_FOUND ? heard(next) : next).done());
    }
    if (state.get(LOOK) != 0) {
      PackedStateBuilder next = state.draft().set(LOOK, 0).set(UNCONFIRMED, 1);
      step.accept(
          "the look fails",
          (variant == Variant.ENDS_WITH_FAILURE ? next.set(BEGUN, 0) : next.set(AFTER, ANSWERED))
              .done());
    }
    after(state, step);
  }

  private void after(PackedState state, BiConsumer<String, PackedState> step) {
    boolean checksFirst = variant == Variant.CHECKS_BEFORE_CLEARING;
    boolean idle = state.get(PHASE) == IDLE && variant != Variant.LOOKS_ONCE;
    switch (state.get(AFTER)) {
      case ANSWERED -> {
        if (!checksFirst) {
          step.accept(
              "a close may begin a look", state.draft().set(AFTER, CLEARED).set(BEGUN, 0).done());
        } else if (idle) {
          step.accept("the next look", state.draft().set(AFTER, 0).set(TIMER, 1).done());
        } else {
          step.accept("no grant is idle", state.with(AFTER, CHECKED));
        }
      }
      case CLEARED -> {
        PackedStateBuilder next = state.draft().set(AFTER, 0);
        if (idle) {
          begin(next);
        }
        step.accept("the next look, if any", next.done());
      }
      case CHECKED ->
          step.accept("a close may begin a look", state.draft().set(AFTER, 0).set(BEGUN, 0).done());
      default -> {}
    }
  }

  /** The note arrives, if there is one. */
  private static PackedStateBuilder heard(PackedStateBuilder next) {
    if (next.get(NOTE) == LEFT) {
      next.set(NOTE, HEARD);
      if (next.get(PHASE) == IDLE) {
        next.set(PHASE, GIVEN_BACK);
      }
    }
    return next;
  }
}
