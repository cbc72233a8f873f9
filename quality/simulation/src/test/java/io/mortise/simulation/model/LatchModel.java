package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import io.mortise.verification.model.PackedState.PackedStateBuilder;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Three processes count down a latch of two parties, two of them for the same party; a fourth one
 * waits. Each count-down reads the document and replaces the version that it has read. Requests are
 * late, answers are lost, processes die, and the latch is deleted or expires, up to a total number
 * of each.
 *
 * <p>See invariants.md#a-party-counts-once. Violations: the latch opens while a party is missing; a
 * party counts without counting down in this use of the name; a party was told that it counts, but
 * does not; an open latch closes; the waiter passes another latch than it has seen, or misses that
 * its own is open.
 */
final class LatchModel implements Model<PackedState> {
  private static final int[] PARTY = {0, 1, 0};
  private static final int PROCESSES = 3;
  private static final int PARTIES = 2;
  private static final int ALL = 3;

  // The document.
  private static final int CONTENT = 0;

  /** 0 if there is none; after a deletion there is a version without content. */
  private static final int VERSION = 1;

  /** The greatest version so far. */
  private static final int LAST_VERSION = 2;

  /** The number of latches so far under the name. */
  private static final int LATCHES = 3;

  /** The number of remaining faults. */
  private static final int FAULTS = 4;

  /** The number of remaining deletions and expiries. */
  private static final int ENDS = 5;

  // Bookkeeping, invisible to processes; a bit for each party.
  private static final int CALLED = 6;

  /** Parties that were told that they count in the present latch. */
  private static final int TOLD = 7;

  private static final int WRONG = 8;

  // The waiter.
  private static final int WAITER = 9;
  private static final int SEEN = 10;
  private static final int LOOKED = 11;

  // Of each process.
  private static final int OF_PROCESS = 12;
  private static final int PHASE = 0;
  private static final int READ_VERSION = 1;

  /** The text that it has read, then the text that it writes. */
  private static final int TEXT = 2;

  /** A previous request of it got no answer. */
  private static final int RETRIES = 3;

  private static final int WIRE = 4;

  /** The latch in which its request was executed. */
  private static final int COUNTED_IN = 5;

  /** A request that it has given up, but that may still be executed. */
  private static final int LATE = 6;

  private static final int LATE_VERSION = 7;
  private static final int LATE_TEXT = 8;
  private static final int CELLS = 9;

  // Phases of a process.
  private static final int READS = 0;
  private static final int DECIDES = 1;
  private static final int SENT = 2;
  private static final int COUNTED = 3;
  private static final int DEAD = 4;

  // In flight.
  private static final int NOTHING = 0;
  private static final int REQUEST = 1;
  private static final int REPLACED = 2;
  private static final int REFUSED = 3;

  // Phases of the waiter.
  private static final int WAITS = 0;
  private static final int PASSED = 1;
  private static final int FAILED = 2;

  private final Variant variant;
  private final int faults;
  private final int ends;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** A second call for a party counts twice. */
    COUNTS_EACH_CALL,
    /** A repeated request counts twice. */
    COUNTS_EACH_TRY,
    /** A document is replaced without comparing its version. */
    REPLACES_ANY_VERSION,
    /** A refused replacement counts as done. */
    IGNORES_REFUSAL,
    /** A party that finds an open latch begins another one. */
    BEGINS_ANEW_WHEN_OPEN,
    /** A party that dies counts. */
    COUNTS_THE_DEAD,
    /** Versions restart after a deletion. */
    REPEATS_VERSIONS,
    /** A deletion leaves no version. */
    FORGETS_DELETION,
    /** A latch expires while requests of its first count-down may be in flight. */
    EXPIRES_AT_ONCE,
    /** A missing latch counts as open. */
    TAKES_ABSENT_FOR_OPEN,
    /** The waiter does not check the latch's id. */
    IGNORES_ID,
    /** The waiter looks once, then relies on pushes. */
    LOOKS_ONCE
  }

  /**
   * @param faults the most deaths, late requests and lost answers together
   * @param ends the most deletions and expiries of the latch
   */
  LatchModel(Variant variant, int faults, int ends) {
    this.variant = variant;
    this.faults = faults;
    this.ends = ends;
  }

  // ---- Texts: the latch, whether it is open, the number of digests, and their parties ----

  private static int text(int latch, boolean open, int digests, int parties) {
    return latch << 5 | (open ? 1 : 0) << 4 | digests << 2 | parties;
  }

  private static int latch(int text) {
    return text >> 5;
  }

  private static boolean isOpen(int text) {
    return (text >> 4 & 1) == 1;
  }

  private static int digests(int text) {
    return text >> 2 & 3;
  }

  private static int parties(int text) {
    return text & ALL;
  }

  private static int counted(int text, int party) {
    int digests = digests(text) + 1;
    return text(latch(text), digests == PARTIES, digests, parties(text) | bit(party));
  }

  private static int bit(int party) {
    return 1 << party;
  }

  // ---- States ----

  private static int cell(int process, int what) {
    return OF_PROCESS + process * CELLS + what;
  }

  private static int get(PackedState state, int process, int what) {
    return state.get(cell(process, what));
  }

  private static PackedStateBuilder set(PackedState state, int process, int what, int value) {
    return state.draft().set(cell(process, what), value);
  }

  @Override
  public PackedState initial() {
    return PackedState.of(OF_PROCESS + PROCESSES * CELLS).with(FAULTS, faults).with(ENDS, ends);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    int content = state.get(CONTENT);
    if (isOpen(content) && parties(content) != ALL) {
      return "it opens while a party is missing";
    } else if ((parties(content) & ~state.get(CALLED)) != 0) {
      return "a party counts that has not counted down";
    } else if (content != 0 && (state.get(TOLD) & ~parties(content)) != 0) {
      return "a party was told that it counts, and does not";
    } else if (state.get(WRONG) != 0) {
      return "a request or a look has met another latch than it was made for";
    }
    boolean looksAgain = variant != Variant.LOOKS_ONCE || state.get(LOOKED) == 0;
    return isOpen(content) && state.get(WAITER) == WAITS && !looksAgain
        ? "the waiter does not see that it is open"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int p = 0; p < PROCESSES; p++) {
      countsDown(state, p, step);
      wire(state, p, step);
      fails(state, p, step);
    }
    ends(state, step);
    waits(state, step);
  }

  // ---- Counting down ----

  private void countsDown(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = get(state, p, PHASE);
    if (phase == READS) {
      PackedStateBuilder next =
          set(state, p, PHASE, DECIDES)
              .set(cell(p, READ_VERSION), state.get(VERSION))
              .set(cell(p, TEXT), state.get(CONTENT))
              .set(CALLED, state.get(CALLED) | bit(PARTY[p]));
      step.accept(p + " reads", next.done());
    } else if (phase == DECIDES) {
      int read = get(state, p, TEXT);
      if (mayStay(read, p, get(state, p, RETRIES) == 1)) {
        step.accept(p + " finds that it counts", told(state, p, latch(read)));
      } else {
        boolean anew = isOpen(read) || read == 0;
        int written = counted(anew ? 0 : read, PARTY[p]);
        step.accept(
            p + " sends what it has made of that",
            set(state, p, PHASE, SENT)
                .set(cell(p, TEXT), written)
                .set(cell(p, WIRE), REQUEST)
                .done());
      }
    }
  }

  /** Whether the text already counts the party. */
  private boolean mayStay(int read, int p, boolean retries) {
    if (isOpen(read)) {
      return variant != Variant.BEGINS_ANEW_WHEN_OPEN;
    }
    boolean countsAgain = variant == (retries ? Variant.COUNTS_EACH_TRY : Variant.COUNTS_EACH_CALL);
    return (parties(read) & bit(PARTY[p])) != 0 && !countsAgain;
  }

  private static PackedState told(PackedState state, int p, int latch) {
    PackedStateBuilder next = rest(state, p, COUNTED);
    if (latch == latch(state.get(CONTENT))) {
      next.set(TOLD, state.get(TOLD) | bit(PARTY[p]));
    }
    return next.done();
  }

  /** Clears its pending answer and the text that it has read. */
  private static PackedStateBuilder rest(PackedState state, int p, int phase) {
    return set(state, p, PHASE, phase)
        .set(cell(p, READ_VERSION), 0)
        .set(cell(p, TEXT), 0)
        .set(cell(p, WIRE), NOTHING)
        .set(cell(p, COUNTED_IN), 0);
  }

  private void wire(PackedState state, int p, BiConsumer<String, PackedState> step) {
    boolean alive = get(state, p, PHASE) == SENT;
    switch (get(state, p, WIRE)) {
      case REQUEST -> {
        boolean replaces = replaces(state, get(state, p, READ_VERSION));
        PackedStateBuilder next = state.draft();
        if (replaces) {
          replace(next, get(state, p, TEXT));
        }
        if (alive) {
          next.set(cell(p, COUNTED_IN), latch(next.get(CONTENT)))
              .set(cell(p, WIRE), replaces ? REPLACED : REFUSED);
        } else {
          next = rest(next.done(), p, DEAD);
        }
        step.accept("the request of " + p + " is executed", next.done());
      }
      case REPLACED, REFUSED -> {
        if (alive) {
          boolean counts = get(state, p, WIRE) == REPLACED || variant == Variant.IGNORES_REFUSAL;
          step.accept(
              p + " has its answer",
              counts ? told(state, p, get(state, p, COUNTED_IN)) : rest(state, p, READS).done());
        }
      }
      default -> {}
    }
    if (get(state, p, LATE) == 1) {
      PackedStateBuilder next =
          set(state, p, LATE, 0).set(cell(p, LATE_VERSION), 0).set(cell(p, LATE_TEXT), 0);
      if (replaces(state, get(state, p, LATE_VERSION))) {
        if (get(state, p, PHASE) == COUNTED) {
          // Its call has ended, in this latch or in an earlier one.
          next.set(WRONG, 1);
        }
        replace(next, get(state, p, LATE_TEXT));
      }
      step.accept("the late request of " + p + " is executed", next.done());
    }
  }

  private boolean replaces(PackedState state, int version) {
    return state.get(VERSION) == version || variant == Variant.REPLACES_ANY_VERSION;
  }

  private void replace(PackedStateBuilder next, int text) {
    int before = next.get(CONTENT);
    int latch = latch(text);
    if (before != 0 && (latch != latch(before) || (isOpen(before) && !isOpen(text)))) {
      next.set(WRONG, 1);
    }
    if (latch == 0) {
      latch = next.get(LATCHES) + 1;
      next.set(LATCHES, latch).set(TOLD, 0);
    }
    int version =
        (variant == Variant.REPEATS_VERSIONS ? next.get(VERSION) : next.get(LAST_VERSION)) + 1;
    next.set(CONTENT, text(latch, isOpen(text), digests(text), parties(text)))
        .set(VERSION, version)
        .set(LAST_VERSION, version);
  }

  // ---- Faults ----

  private void fails(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = get(state, p, PHASE);
    if (state.get(FAULTS) == 0 || phase == COUNTED || phase == DEAD) {
      return;
    }
    int left = state.get(FAULTS) - 1;
    boolean sent = get(state, p, WIRE) == REQUEST;
    PackedStateBuilder dies =
        (sent ? set(state, p, PHASE, DEAD) : rest(state, p, DEAD)).set(FAULTS, left);
    int content = state.get(CONTENT);
    if (variant == Variant.COUNTS_THE_DEAD && content != 0 && !mayStay(content, p, false)) {
      dies.set(CONTENT, counted(content, PARTY[p]));
    }
    step.accept(p + " dies", dies.done());
    if (phase != SENT) {
      return;
    }
    PackedStateBuilder again = rest(state, p, READS).set(FAULTS, left);
    if (variant == Variant.COUNTS_EACH_TRY) {
      again.set(cell(p, RETRIES), 1);
    }
    if (!sent) {
      step.accept("the answer to " + p + " is lost", again.done());
    } else if (get(state, p, LATE) == 0) {
      again
          .set(cell(p, LATE), 1)
          .set(cell(p, LATE_VERSION), get(state, p, READ_VERSION))
          .set(cell(p, LATE_TEXT), get(state, p, TEXT));
      step.accept("the request of " + p + " is late", again.done());
    }
  }

  // ---- Ends ----

  private void ends(PackedState state, BiConsumer<String, PackedState> step) {
    boolean begins = beginsInFlight(state);
    if (state.get(CONTENT) == 0) {
      if (state.get(VERSION) != 0 && !begins) {
        step.accept("what the deletion has left expires", state.with(VERSION, 0));
      }
      return;
    } else if (state.get(ENDS) == 0) {
      return;
    }
    PackedStateBuilder gone =
        state.draft().set(ENDS, state.get(ENDS) - 1).set(CONTENT, 0).set(TOLD, 0).set(VERSION, 0);
    if (!begins || variant == Variant.EXPIRES_AT_ONCE) {
      step.accept("it expires", gone.copy().done());
    }
    if (variant != Variant.FORGETS_DELETION) {
      int version = state.get(LAST_VERSION) + 1;
      gone.set(VERSION, version).set(LAST_VERSION, version);
    }
    step.accept("it is deleted", gone.done());
  }

  /** Whether a request in flight begins a latch: it would not be refused after an expiry. */
  private static boolean beginsInFlight(PackedState state) {
    for (int p = 0; p < PROCESSES; p++) {
      if ((get(state, p, WIRE) == REQUEST && get(state, p, READ_VERSION) == 0)
          || (get(state, p, LATE) == 1 && get(state, p, LATE_VERSION) == 0)) {
        return true;
      }
    }
    return false;
  }

  // ---- Waiting ----

  private void waits(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(WAITER) != WAITS || (variant == Variant.LOOKS_ONCE && state.get(LOOKED) == 1)) {
      return;
    }
    int content = state.get(CONTENT);
    int seen = state.get(SEEN);
    PackedStateBuilder next = state.draft();
    if (variant == Variant.LOOKS_ONCE) {
      next.set(LOOKED, 1);
    }
    boolean opens = isOpen(content) || (content == 0 && variant == Variant.TAKES_ABSENT_FOR_OPEN);
    if (seen != 0 && latch(content) != seen && variant != Variant.IGNORES_ID) {
      next.set(WAITER, FAILED).set(SEEN, 0);
    } else if (opens) {
      boolean own = isOpen(content) && (seen == 0 || latch(content) == seen);
      next.set(WAITER, PASSED).set(SEEN, 0).set(WRONG, own ? state.get(WRONG) : 1);
    } else if (seen == 0) {
      next.set(SEEN, latch(content));
    }
    step.accept("the waiter looks", next.done());
  }
}
