package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import io.mortise.verification.model.PackedState.PackedStateBuilder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Three processes meet at a barrier for three, again and again. Each arrives under the lock of the
 * barrier, holds a lock of its index, writes its arrival, and queues for the lock of its neighbour.
 * Processes die, sessions end, timeouts pass and answers are lost, up to a total number of faults.
 *
 * <p>See invariants.md#a-generation-ends-once. Violations: some of a generation pass while others
 * see it broken; a party counts twice, or arrives again before it knows the outcome; a generation
 * breaks although none of its parties gave up or died; a party waits for a dead one undetected.
 */
final class BarrierModel implements Model<PackedState> {
  private static final int PARTIES = 3;
  private static final int NOBODY = -1;

  // The document.
  private static final int GENERATION = 0;
  private static final int ARRIVED = 1;

  /** The id of the latest arrival; 0 for none. */
  private static final int LAST = 2;

  private static final int BROKEN = 3;

  /** The holder of the barrier's lock, from 1; 0 for none. */
  private static final int LOCK = 4;

  /** The number of remaining faults. */
  private static final int FAULTS = 5;

  // Bookkeeping, invisible to processes; a bit for each generation.
  private static final int PASSED = 6;
  private static final int TOLD_BROKEN = 7;
  private static final int CAUSE = 8;
  private static final int WRONG = 9;

  // Of each process.
  private static final int OF_PROCESS = 10;
  private static final int PHASE = 0;
  private static final int OWN_GENERATION = 1;
  private static final int INDEX = 2;

  /** The message in flight. */
  private static final int WIRE = 3;

  /** The generation that counted its arrival, until it knows the outcome; 0 for none. */
  private static final int COUNTED = 4;

  private static final int ENTRIES = 5;

  /** The store has ended its session, and its locks are free. */
  private static final int EXPIRED = 6;

  private static final int CELLS = 7;

  // Phases.
  private static final int OUT = 0;
  private static final int READ = 1;
  private static final int LOCKED = 2;
  private static final int WRITING = 3;
  private static final int WAITS = 4;
  private static final int BREAKS = 5;
  private static final int DEAD = 6;

  // In flight.
  private static final int NOTHING = 0;
  private static final int WRITE = 1;
  private static final int CAME = 2;
  private static final int DID_NOT_COME = 3;
  private static final int BREAK = 4;
  private static final int BREAK_ANSWERED = 5;

  private final Variant variant;
  private final int entries;
  private final int faults;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** It is also wrong to pass with a party that has died. */
    PASSES_WITH_THE_LIVING_ONLY,
    /** A party does not check whether its arrival is already written. */
    FORGETS_OWN_ARRIVAL,
    /** A process arrives under the same id each time. */
    KEEPS_ITS_ID,
    /** An arrival is counted even if the index has changed since it was read. */
    COUNTS_AT_ANY_INDEX,
    /** The arrival is written before the party's lock is held. */
    WRITES_BEFORE_LOCK,
    /** No party queues for its neighbour's lock. */
    WATCHES_NOBODY,
    /** The first does not watch the latest. */
    FIRST_WATCHES_NOBODY,
    /** A party that breaks a generation does not check its outcome. */
    DECIDES_ALONE,
    /** A party breaks the generation that is gathering, whichever it is. */
    BREAKS_ANY_GENERATION,
    /** A party that gives up while it writes does not wait for the outcome. */
    GIVES_UP_WHILE_WRITING
  }

  /**
   * @param entries the most arrivals of each process
   * @param faults the most deaths, ended sessions, timeouts and lost answers together
   */
  BarrierModel(Variant variant, int entries, int faults) {
    this.variant = variant;
    this.entries = entries;
    this.faults = faults;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(OF_PROCESS + PARTIES * CELLS).with(GENERATION, 1).with(FAULTS, faults);
  }

  private static int cell(int process, int what) {
    return OF_PROCESS + process * CELLS + what;
  }

  private static int bit(int generation) {
    return 1 << generation;
  }

  private static int get(PackedState state, int process, int what) {
    return state.get(cell(process, what));
  }

  private static PackedStateBuilder set(PackedState state, int process, int what, int value) {
    return state.draft().set(cell(process, what), value);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    if ((state.get(PASSED) & state.get(TOLD_BROKEN)) != 0) {
      return "some pass a generation that is broken for others";
    } else if ((state.get(BROKEN) & ~state.get(CAUSE)) != 0) {
      return "a generation breaks without a cause";
    } else if (state.get(WRONG) != 0) {
      return "a party counts where it must not";
    }
    return isStuck(state) ? "a party waits for one that is gone" : null;
  }

  /** Whether a process waits in a generation with a dead party, and nothing will break it. */
  private boolean isStuck(PackedState state) {
    int generation = state.get(GENERATION);
    boolean waits = false;
    boolean gone = false;
    for (int p = 0; p < PARTIES; p++) {
      boolean isOf = get(state, p, OWN_GENERATION) == generation;
      int phase = get(state, p, PHASE);
      int wire = get(state, p, WIRE);
      if (isOf
          && (phase == BREAKS
              || phase == LOCKED
              || phase == WRITING
              || wire == BREAK
              || (phase == READ && isFree(state, index(state, p), p))
              || (phase == WAITS && seesEnd(state, p)))) {
        return false;
      }
      waits |= isOf && phase == WAITS;
      gone |= get(state, p, COUNTED) == generation && phase == DEAD && get(state, p, EXPIRED) == 1;
    }
    return waits && gone;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int p = 0; p < PARTIES; p++) {
      comes(state, p, step);
      wire(state, p, step);
      waits(state, p, step);
      fails(state, p, step);
    }
  }

  // ---- Arriving ----

  private void comes(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = get(state, p, PHASE);
    if (phase == OUT && get(state, p, ENTRIES) < entries && state.get(LOCK) == 0) {
      PackedStateBuilder next = set(state, p, ENTRIES, get(state, p, ENTRIES) + 1).set(LOCK, p + 1);
      step.accept(p + " has the lock and reads", read(state, next, p).done());
    } else if (phase == READ
        && (variant == Variant.WRITES_BEFORE_LOCK || isFree(state, index(state, p), p))) {
      step.accept(p + " has the lock of its index", set(state, p, PHASE, LOCKED).done());
    } else if (phase == LOCKED) {
      step.accept(p + " writes", set(state, p, PHASE, WRITING).set(cell(p, WIRE), WRITE).done());
    }
  }

  private static int index(PackedState state, int p) {
    return get(state, p, INDEX);
  }

  private static PackedStateBuilder read(PackedState state, PackedStateBuilder next, int p) {
    if (get(state, p, COUNTED) != 0) {
      next.set(WRONG, 1);
    }
    return next.set(cell(p, PHASE), READ)
        .set(cell(p, OWN_GENERATION), state.get(GENERATION))
        .set(cell(p, INDEX), state.get(ARRIVED));
  }

  /** Whether no other process holds the lock of an index of its generation. */
  private boolean isFree(PackedState state, int index, int p) {
    for (int q = 0; q < PARTIES; q++) {
      if (q != p
          && get(state, q, OWN_GENERATION) == get(state, p, OWN_GENERATION)
          && get(state, q, INDEX) == index
          && holdsPartyLock(state, q)) {
        return false;
      }
    }
    return true;
  }

  private boolean holdsPartyLock(PackedState state, int q) {
    if (get(state, q, EXPIRED) == 1) {
      return false;
    }
    return switch (get(state, q, PHASE)) {
      case LOCKED, WRITING -> variant != Variant.WRITES_BEFORE_LOCK;
      case WAITS, BREAKS -> true;
      // Had it died before it held the lock, no party would have to wait for it.
      case DEAD -> get(state, q, COUNTED) != 0;
      default -> false;
    };
  }

  private void wire(PackedState state, int p, BiConsumer<String, PackedState> step) {
    boolean alive = get(state, p, PHASE) != DEAD;
    switch (get(state, p, WIRE)) {
      case WRITE -> {
        PackedStateBuilder next = write(state, p);
        step.accept("the arrival of " + p + " is written", next.done());
        if (alive && state.get(FAULTS) > 0) {
          // It is sent again.
          next.set(cell(p, WIRE), WRITE).set(FAULTS, state.get(FAULTS) - 1);
          step.accept("it is written, and the answer is lost", next.done());
        }
      }
      case CAME -> {
        if (alive) {
          PackedStateBuilder next = set(state, p, WIRE, NOTHING);
          if (get(state, p, PHASE) == WRITING) {
            next.set(cell(p, PHASE), WAITS).set(LOCK, 0);
          }
          step.accept(p + " knows that it has come", next.done());
        }
      }
      case DID_NOT_COME -> {
        if (alive) {
          PackedStateBuilder next = set(state, p, WIRE, NOTHING);
          if (get(state, p, PHASE) == WRITING) {
            read(state, next, p);
          }
          step.accept(p + " has not come, and reads", next.done());
        }
      }
      case BREAK ->
          step.accept(
              "the break of " + p + " arrives",
              breaks(state, p).set(cell(p, WIRE), BREAK_ANSWERED).done());
      case BREAK_ANSWERED -> {
        if (alive) {
          step.accept(p + " reads how it ended", told(state, p).set(cell(p, WIRE), NOTHING).done());
        }
      }
      default -> {}
    }
  }

  private PackedStateBuilder write(PackedState state, int p) {
    int generation = get(state, p, OWN_GENERATION);
    PackedStateBuilder next = state.draft();
    boolean isThere = state.get(LAST) == id(state, p) && variant != Variant.FORGETS_OWN_ARRIVAL;
    boolean isMine =
        state.get(GENERATION) == generation && state.get(ARRIVED) == get(state, p, INDEX);
    boolean counts = isMine || variant == Variant.COUNTS_AT_ANY_INDEX;
    if (!isThere && counts) {
      if (get(state, p, COUNTED) == state.get(GENERATION)) {
        next.set(WRONG, 1);
      }
      next.set(LAST, id(state, p)).set(cell(p, COUNTED), state.get(GENERATION));
      int arrived = state.get(ARRIVED) + 1;
      if (arrived == PARTIES) {
        passes(state, next);
      } else {
        next.set(ARRIVED, arrived);
      }
    }
    return next.set(cell(p, WIRE), isThere || counts ? CAME : DID_NOT_COME);
  }

  /** The id of a process's next arrival. */
  private int id(PackedState state, int p) {
    int entry = variant == Variant.KEEPS_ITS_ID ? 1 : get(state, p, ENTRIES);
    return entry * PARTIES + p;
  }

  private void passes(PackedState state, PackedStateBuilder next) {
    int generation = state.get(GENERATION);
    next.set(GENERATION, generation + 1)
        .set(ARRIVED, 0)
        .set(PASSED, state.get(PASSED) | bit(generation));
    for (int q = 0; q < PARTIES && variant == Variant.PASSES_WITH_THE_LIVING_ONLY; q++) {
      if (next.get(cell(q, COUNTED)) == generation && get(state, q, PHASE) == DEAD) {
        next.set(WRONG, 1);
      }
    }
  }

  // ---- Waiting ----

  private void waits(PackedState state, int p, BiConsumer<String, PackedState> step) {
    if (get(state, p, PHASE) != WAITS) {
      return;
    }
    if (state.get(GENERATION) != get(state, p, OWN_GENERATION)) {
      step.accept(p + " sees how it ended", told(state, p).done());
    }
    if (seesEnd(state, p)) {
      step.accept(p + " has the lock of its neighbour", gives(state, p).done());
    }
  }

  private boolean seesEnd(PackedState state, int p) {
    int neighbour = neighbour(state, p);
    return neighbour != NOBODY && isFree(state, neighbour, p);
  }

  private int neighbour(PackedState state, int p) {
    int index = get(state, p, INDEX);
    boolean gathers = state.get(GENERATION) == get(state, p, OWN_GENERATION);
    if (variant == Variant.WATCHES_NOBODY) {
      return NOBODY;
    } else if (index > 0) {
      return index - 1;
    }
    return gathers && state.get(ARRIVED) > 1 && variant != Variant.FIRST_WATCHES_NOBODY
        ? state.get(ARRIVED) - 1
        : NOBODY;
  }

  /** Begins to break its generation. */
  private PackedStateBuilder gives(PackedState state, int p) {
    PackedStateBuilder next = set(state, p, PHASE, BREAKS).set(cell(p, WIRE), BREAK);
    if (variant == Variant.DECIDES_ALONE) {
      next.set(TOLD_BROKEN, state.get(TOLD_BROKEN) | bit(get(state, p, OWN_GENERATION)));
    }
    return next;
  }

  private PackedStateBuilder breaks(PackedState state, int p) {
    int generation = state.get(GENERATION);
    PackedStateBuilder next = state.draft();
    if (generation == get(state, p, OWN_GENERATION) || variant == Variant.BREAKS_ANY_GENERATION) {
      next.set(BROKEN, state.get(BROKEN) | bit(generation))
          .set(GENERATION, generation + 1)
          .set(ARRIVED, 0);
    }
    return next;
  }

  /** Tells a process the outcome of its generation. */
  private static PackedStateBuilder told(PackedState state, int p) {
    int bit = bit(get(state, p, OWN_GENERATION));
    PackedStateBuilder next = set(state, p, PHASE, OUT).set(cell(p, COUNTED), 0);
    if ((state.get(BROKEN) & bit) != 0) {
      next.set(TOLD_BROKEN, state.get(TOLD_BROKEN) | bit);
    }
    return next.set(cell(p, EXPIRED), 0);
  }

  // ---- Faults ----

  private void fails(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = get(state, p, PHASE);
    boolean isHolder = state.get(LOCK) == p + 1;
    boolean isOver = phase == DEAD || phase == BREAKS;
    if (phase == DEAD && get(state, p, EXPIRED) == 0) {
      PackedStateBuilder next = set(state, p, EXPIRED, 1);
      step.accept(
          "the session of " + p + " ends", isHolder ? next.set(LOCK, 0).done() : next.done());
    }
    if (state.get(FAULTS) == 0 || phase == OUT || isOver) {
      return;
    }
    int cause = state.get(CAUSE) | bit(get(state, p, OWN_GENERATION));
    PackedStateBuilder fault = state.draft().set(FAULTS, state.get(FAULTS) - 1);
    step.accept(p + " dies", fault.copy().set(CAUSE, cause).set(cell(p, PHASE), DEAD).done());
    if (phase == WAITS) {
      PackedStateBuilder gives =
          gives(state, p).set(FAULTS, state.get(FAULTS) - 1).set(CAUSE, cause);
      step.accept("the time of " + p + " is over", gives.done());
      step.accept("the session of " + p + " is lost", gives.set(cell(p, EXPIRED), 1).done());
    } else if (phase == WRITING && variant == Variant.GIVES_UP_WHILE_WRITING) {
      fault
          .set(CAUSE, cause)
          .set(TOLD_BROKEN, state.get(TOLD_BROKEN) | bit(get(state, p, OWN_GENERATION)))
          .set(cell(p, PHASE), OUT)
          .set(LOCK, 0);
      step.accept("the time of " + p + " is over", fault.done());
    }
  }
}
