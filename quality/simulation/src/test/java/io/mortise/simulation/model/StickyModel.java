package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import io.mortise.verification.model.PackedState.PackedStateBuilder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A process keeps the grant of a sticky lock idle, reuses it, and is called back by a contender
 * (invariants.md#called-back-ends). The note is left once for each attempt; its push may be lost,
 * or overtake the granting answer; a renewal delivers it later. The session may end at any time:
 * first for its owner, then in the store.
 *
 * <p>Violations: two processes believe that they hold; the contender waits for an unused grant, and
 * nothing in flight would end it.
 */
final class StickyModel implements Model<PackedState> {
  private static final int PHASE = 0;
  private static final int ATTEMPT = 1;
  private static final int WANTED = 2;

  /** The session's deadline has passed for its owner. */
  private static final int OVER = 3;

  // In flight; the number of an attempt.
  private static final int ACQUIRE = 4;
  private static final int GRANTED = 5;
  private static final int ABANDON = 6;
  private static final int PUSH = 7;

  /** The notification in the next renewal. */
  private static final int NOTE = 8;

  /** In the store: an attempt of the owner, the contender, or none. */
  private static final int HOLDER = 9;

  private static final int TOLD = 10;
  private static final int EXPIRED = 11;
  private static final int CONTENDER = 12;
  private static final int ASKS = 13;
  private static final int CELLS = 14;

  private static final int NONE = 0;
  private static final int ASKED = 1;
  private static final int BUSY = 2;
  private static final int IDLE = 3;

  private static final int WAITING = 1;
  private static final int HOLDS = 2;

  private static final int CONTENDER_HOLDS = 100;

  private final Variant variant;
  private final int attempts;
  private final int asks;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** An idle grant is not ended when it is called back. */
    STAYS_IDLE_WHEN_CALLED,
    /** Closing a lease makes the grant idle even if it is wanted. */
    KEEPS_WANTED,
    /** A note about an attempt not granted yet is dropped. */
    DROPS_EARLY_NOTE,
    /** A note is forgotten when the current lease is closed. */
    FORGETS_NOTE,
    /** A renewal delivers no notes. */
    RENEWAL_TELLS_NOTHING,
    /** A grant that is being released may be reused until the store has answered. */
    ENDS_WHEN_ANSWERED,
    /** An idle grant is reused although its session is over. */
    TAKES_WHEN_OVER
  }

  StickyModel(Variant variant, int attempts, int asks) {
    this.variant = variant;
    this.attempts = attempts;
    this.asks = asks;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(CELLS);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    if (state.get(PHASE) == BUSY && state.get(CONTENDER) == HOLDS) {
      return "two believe that they hold";
    }
    int holder = state.get(HOLDER);
    boolean told = state.get(NOTE) != 0 && variant != Variant.RENEWAL_TELLS_NOTHING;
    boolean moves =
        told
            || state.get(OVER) == 1
            || state.get(ACQUIRE) != 0
            || state.get(GRANTED) != 0
            || state.get(ABANDON) != 0
            || state.get(PUSH) != 0;
    boolean unused = state.get(PHASE) == IDLE || state.get(PHASE) == NONE;
    return state.get(CONTENDER) == WAITING && holder != CONTENDER_HOLDS && unused && !moves
        ? "a waiter waits for a grant that nobody uses"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    owner(state, step);
    wire(state, step);
    session(state, step);
    contender(state, step);
  }

  private void owner(PackedState state, BiConsumer<String, PackedState> step) {
    int phase = state.get(PHASE);
    int attempt = state.get(ATTEMPT);
    boolean over = state.get(OVER) == 1;
    if (phase == NONE && !over && attempt < attempts && state.get(ACQUIRE) == 0) {
      step.accept(
          "owner asks",
          state
              .draft()
              .set(PHASE, ASKED)
              .set(ATTEMPT, attempt + 1)
              .set(WANTED, 0)
              .set(ACQUIRE, attempt + 1)
              .done());
    }
    if (phase == BUSY) {
      PackedStateBuilder next = state.draft();
      boolean wanted = state.get(WANTED) == 1;
      if (wanted && variant != Variant.KEEPS_WANTED && variant != Variant.FORGETS_NOTE) {
        next.set(PHASE, NONE).set(ABANDON, attempt);
      } else {
        next.set(PHASE, IDLE);
        if (variant == Variant.FORGETS_NOTE) {
          next.set(WANTED, 0);
        }
      }
      step.accept("owner closes its lease", next.done());
    }
    if (phase == IDLE && (!over || variant == Variant.TAKES_WHEN_OVER)) {
      step.accept("owner takes the idle grant", state.with(PHASE, BUSY));
    }
    if (phase == IDLE && state.get(ABANDON) == 0) {
      step.accept("the idle time is over", giveBack(state.draft()).done());
    }
  }

  private PackedStateBuilder giveBack(PackedStateBuilder next) {
    next.set(ABANDON, next.get(ATTEMPT));
    if (variant != Variant.ENDS_WHEN_ANSWERED) {
      next.set(PHASE, NONE);
    }
    return next;
  }

  private PackedState heard(PackedState state, int cell) {
    PackedStateBuilder next = state.draft();
    int about = state.get(cell);
    next.set(cell, 0);
    int phase = state.get(PHASE);
    if (about != state.get(ATTEMPT)
        || phase == NONE
        || (phase == ASKED && variant == Variant.DROPS_EARLY_NOTE)) {
      return next.done();
    }
    next.set(WANTED, 1);
    if (phase == IDLE && variant != Variant.STAYS_IDLE_WHEN_CALLED) {
      giveBack(next);
    }
    return next.done();
  }

  private void wire(PackedState state, BiConsumer<String, PackedState> step) {
    int acquire = state.get(ACQUIRE);
    // Requests of one name arrive in order.
    if (acquire != 0 && (state.get(ABANDON) == 0 || state.get(ABANDON) == acquire)) {
      PackedStateBuilder next = state.draft().set(ACQUIRE, 0);
      if (state.get(EXPIRED) == 0 && state.get(HOLDER) == 0) {
        next.set(HOLDER, acquire).set(TOLD, 0).set(GRANTED, acquire);
      } else if (state.get(PHASE) == ASKED) {
        next.set(PHASE, NONE);
      }
      step.accept("the acquire arrives", next.done());
    }
    int granted = state.get(GRANTED);
    if (granted != 0) {
      PackedStateBuilder next = state.draft().set(GRANTED, 0);
      if (state.get(PHASE) == ASKED && granted == state.get(ATTEMPT)) {
        next.set(PHASE, BUSY);
      }
      step.accept("the grant arrives", next.done());
    }
    int abandon = state.get(ABANDON);
    if (abandon != 0) {
      PackedStateBuilder next = state.draft().set(ABANDON, 0);
      if (state.get(HOLDER) == abandon) {
        free(next);
      }
      if (variant == Variant.ENDS_WHEN_ANSWERED && state.get(PHASE) == IDLE) {
        next.set(PHASE, NONE);
      }
      step.accept("the abandon arrives", next.done());
    }
    if (state.get(PUSH) != 0) {
      step.accept("the push is lost", state.with(PUSH, 0));
      step.accept("the push arrives", heard(state, PUSH));
    }
    if (state.get(NOTE) != 0 && state.get(OVER) == 0 && variant != Variant.RENEWAL_TELLS_NOTHING) {
      step.accept("a renewal brings the note", heard(state, NOTE));
    }
  }

  private static void free(PackedStateBuilder next) {
    if (next.get(CONTENDER) == WAITING) {
      next.set(HOLDER, CONTENDER_HOLDS).set(CONTENDER, HOLDS);
    } else {
      next.set(HOLDER, 0);
    }
  }

  private void session(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(OVER) == 0) {
      PackedStateBuilder next = state.draft().set(OVER, 1);
      if (variant != Variant.TAKES_WHEN_OVER || state.get(PHASE) != IDLE) {
        next.set(PHASE, NONE);
      }
      step.accept("the session is over for its owner", next.done());
    } else if (state.get(EXPIRED) == 0) {
      step.accept("the session is over in the store", state.with(EXPIRED, 1));
    }
  }

  private void contender(PackedState state, BiConsumer<String, PackedState> step) {
    int holder = state.get(HOLDER);
    boolean owners = holder != 0 && holder != CONTENDER_HOLDS;
    switch (state.get(CONTENDER)) {
      case NONE -> {
        if (state.get(ASKS) < asks) {
          PackedStateBuilder next =
              state.draft().set(ASKS, state.get(ASKS) + 1).set(CONTENDER, WAITING);
          if (holder == 0) {
            free(next);
          } else if (state.get(TOLD) == 0) {
            next.set(TOLD, 1).set(NOTE, holder).set(PUSH, holder);
          }
          step.accept("the contender asks", next.done());
        }
      }
      case WAITING -> {
        if (owners && state.get(EXPIRED) == 1) {
          PackedStateBuilder next = state.draft();
          free(next);
          step.accept("the contender proves the owner dead", next.done());
        }
      }
      default -> {
        PackedStateBuilder next = state.draft().set(CONTENDER, NONE).set(HOLDER, 0);
        step.accept("the contender closes its lease", next.done());
      }
    }
  }
}
