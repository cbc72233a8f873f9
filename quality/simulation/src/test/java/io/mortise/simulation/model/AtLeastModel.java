package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * At-least times without a server's clock: two observers read a lock's record, count on their own
 * clocks, which run fast, and open the lock by compare-and-set. The holder starts its time again,
 * and releases; waiters change the record; requests and answers take any time, and an observer may
 * stop between its read and its write.
 *
 * <p>Violations: the lock was opened within an at-least time; or an observer that has known of that
 * time for long enough may not open the lock.
 */
final class AtLeastModel implements Model<PackedState> {
  private static final int NONE = -1;

  // The record: its version, the start of the at-least time and the ticks since, and whether the
  // hold was released.
  private static final int VERSION = 0;
  private static final int START = 1;
  private static final int AGE = 2;
  private static final int RELEASED = 3;
  private static final int BROKEN = 4;

  // An observer: the start it counts, by its clock and in true ticks; the ticks since its question,
  // and what the store answered; the version over which it opens the lock.
  private static final int SEEN = 0;
  private static final int COUNTED = 1;
  private static final int KNOWN = 2;
  private static final int ASKED = 3;
  private static final int FOUND = 4;
  private static final int FOUND_START = 5;
  private static final int FOUND_RELEASED = 6;
  private static final int ORDER = 7;
  private static final int CELLS = 8;
  private static final int OBSERVERS = 2;

  /** An observer's clock counts five units in a tick, and the true time has four. */
  private static final int FAST = 5;

  private static final int TRUE_UNITS = 4;

  private final Variant variant;
  private final int length;
  private final int versions;
  private final int starts;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** The observer counts from the time of its question. */
    COUNTS_FROM_THE_QUESTION,
    /** The observer counts on although the time was started again. */
    COUNTS_FROM_THE_FIRST_START,
    /** Each change of the record starts the count anew. */
    COUNTS_FROM_THE_VERSION,
    /** The lock is opened without comparing the version. */
    OPENS_WITHOUT_COMPARING,
    /** The observer relies on its clock's rate. */
    IGNORES_RATES
  }

  AtLeastModel(Variant variant, int length, int versions, int starts) {
    this.variant = variant;
    this.length = length;
    this.versions = versions;
    this.starts = starts;
  }

  @Override
  public PackedState initial() {
    PackedState.PackedStateBuilder state =
        PackedState.of(BROKEN + 1 + OBSERVERS * CELLS).draft().set(START, 1);
    for (int observer = 0; observer < OBSERVERS; observer++) {
      for (int cell : new int[] {SEEN, ASKED, FOUND, ORDER}) {
        state.set(cell(observer, cell), NONE);
      }
    }
    return state.done();
  }

  private static int cell(int observer, int cell) {
    return BROKEN + 1 + observer * CELLS + cell;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return switch (state.get(BROKEN)) {
      case 1 -> "the lock was opened within its at-least time";
      case 2 -> "an observer has known of the time for long, and may not open the lock";
      default -> null;
    };
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("a tick passes", tick(state));
    boolean changes = state.get(VERSION) < versions;
    if (state.get(RELEASED) == 0 && changes) {
      step.accept("the holder releases", written(state).set(RELEASED, 1).done());
      if (state.get(START) < starts) {
        step.accept("the holder starts its time again", started(state).done());
      }
    }
    if (changes) {
      step.accept("a waiter joins", written(state).done());
    }
    for (int observer = 0; observer < OBSERVERS; observer++) {
      observe(state, observer, step);
    }
  }

  private static PackedState.PackedStateBuilder written(PackedState state) {
    return state.draft().set(VERSION, state.get(VERSION) + 1);
  }

  private static PackedState.PackedStateBuilder started(PackedState state) {
    return written(state).set(START, state.get(START) + 1).set(AGE, 0);
  }

  private PackedState tick(PackedState state) {
    PackedState.PackedStateBuilder next = state.draft();
    next.set(AGE, Math.min(length, state.get(AGE) + 1));
    int most = 2 * length;
    for (int observer = 0; observer < OBSERVERS; observer++) {
      if (state.get(cell(observer, SEEN)) != NONE) {
        int counted = cell(observer, COUNTED);
        next.set(counted, Math.min(most * FAST, state.get(counted) + FAST));
        int known = cell(observer, KNOWN);
        next.set(known, Math.min(most, state.get(known) + 1));
      }
      int asked = cell(observer, ASKED);
      if (state.get(asked) != NONE) {
        next.set(asked, Math.min(most, state.get(asked) + 1));
      }
    }
    return next.done();
  }

  private void observe(PackedState state, int observer, BiConsumer<String, PackedState> step) {
    int asked = cell(observer, ASKED);
    int found = cell(observer, FOUND);
    int order = cell(observer, ORDER);
    if (state.get(asked) == NONE) {
      step.accept("observer " + observer + " asks", state.with(asked, 0));
    } else if (state.get(found) == NONE) {
      step.accept(
          "the store answers " + observer,
          state
              .draft()
              .set(found, state.get(VERSION))
              .set(cell(observer, FOUND_START), state.get(START))
              .set(cell(observer, FOUND_RELEASED), state.get(RELEASED))
              .done());
    } else if (state.get(order) == NONE) {
      step.accept("observer " + observer + " hears", heard(state, observer));
    }
    if (state.get(order) != NONE) {
      step.accept("the write of " + observer + " arrives", opened(state, observer));
    }
  }

  private PackedState heard(PackedState state, int observer) {
    int start = state.get(cell(observer, FOUND_START));
    int version = state.get(cell(observer, FOUND));
    boolean same = state.get(cell(observer, SEEN)) == identity(start, version);
    boolean known = state.get(cell(observer, SEEN)) != NONE && same;
    int since = variant == Variant.COUNTS_FROM_THE_QUESTION ? state.get(cell(observer, ASKED)) : 0;
    int counted = known ? state.get(cell(observer, COUNTED)) : since * FAST;
    int whole = length * (variant == Variant.IGNORES_RATES ? TRUE_UNITS : FAST);
    boolean opens = counted >= whole && state.get(cell(observer, FOUND_RELEASED)) == 1;
    // Only the version says otherwise: then the count ought to go on.
    boolean first = state.get(cell(observer, SEEN)) == NONE;
    int trulyKnown =
        known || (variant == Variant.COUNTS_FROM_THE_VERSION && !first)
            ? state.get(cell(observer, KNOWN))
            : 0;
    boolean stuck =
        !opens && trulyKnown >= length && state.get(cell(observer, FOUND_RELEASED)) == 1;
    return state
        .draft()
        .set(cell(observer, SEEN), identity(start, version))
        .set(cell(observer, COUNTED), counted)
        .set(cell(observer, KNOWN), trulyKnown)
        .set(cell(observer, ASKED), NONE)
        .set(cell(observer, FOUND), NONE)
        .set(cell(observer, FOUND_START), 0)
        .set(cell(observer, FOUND_RELEASED), 0)
        .set(cell(observer, ORDER), opens ? version : NONE)
        .set(BROKEN, stuck ? 2 : 0)
        .done();
  }

  /** The number by which an observer tells one at-least time from another. */
  private int identity(int start, int version) {
    return switch (variant) {
      case COUNTS_FROM_THE_FIRST_START -> 1;
      case COUNTS_FROM_THE_VERSION -> version;
      default -> start;
    };
  }

  /** The lock is opened, and granted anew with a time of its own. */
  private PackedState opened(PackedState state, int observer) {
    boolean compares = variant != Variant.OPENS_WITHOUT_COMPARING;
    int over = state.get(cell(observer, ORDER));
    PackedState answered = state.with(cell(observer, ORDER), NONE);
    if (state.get(RELEASED) == 0 || (compares && over != state.get(VERSION))) {
      return answered;
    }
    return started(answered)
        .set(RELEASED, 0)
        .set(BROKEN, state.get(AGE) < length ? 1 : state.get(BROKEN))
        .done();
  }
}
