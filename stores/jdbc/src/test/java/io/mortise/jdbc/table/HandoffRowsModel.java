package io.mortise.jdbc.table;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A lock's row and the rows of those who wait for it, under READ COMMITTED
 * (invariants.md#queue-count-in-row). A statement that waited for the lock's row sees its newest
 * version, and the waiters as they were when it began. So who finds waiters counted in the row
 * first locks it, and looks at them in a statement after that.
 *
 * <p>Broken is: the lock is free, or belongs to somebody who gave up, while somebody waits and
 * nobody is at work; the row counts other waiters than there are; somebody believes that he holds
 * and the row says otherwise.
 */
final class HandoffRowsModel implements Model<PackedState> {
  // Cells of a process: its state, and the rows that its statement has seen.
  private static final int PHASE = 0;
  private static final int SAW = 1;
  private static final int PROCESS = 2;

  private static final int IDLE = 0;
  private static final int ASKING_FAST = 1;
  private static final int ASKING = 2;
  private static final int WAITS = 3;
  private static final int HOLDS = 4;
  private static final int ENDING_FAST = 5;
  private static final int ENDING = 6;

  /** Two steps of a cancel that does not lock the lock's row. */
  private static final int LEAVING = 7;

  private static final int COUNTING = 8;

  private final Variant variant;
  private final int processes;

  // The lock's row, and the process that has it locked; then the waiters' rows in order of their
  // tickets.
  private final int owner;
  private final int counted;
  private final int locked;
  private final int queue;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** A release is one statement that also looks for the first who waits. */
    ONE_STATEMENT,
    /** A read after the row was locked is as old as the transaction: REPEATABLE READ. */
    ONE_SNAPSHOT,
    /** The short way to release does not ask whether somebody waits. */
    RELEASES_WHOEVER_WAITS,
    /**
     * A waiter that gives up deletes its row and corrects the count without locking the lock's row.
     */
    LEAVES_WITHOUT_THE_ROW
  }

  HandoffRowsModel(Variant variant, int processes) {
    this.variant = variant;
    this.processes = processes;
    this.owner = processes * PROCESS;
    this.counted = owner + 1;
    this.locked = owner + 2;
    this.queue = owner + 3;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(queue + processes);
  }

  private static int at(int process, int cell) {
    return (process - 1) * PROCESS + cell;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    boolean atRest = true;
    for (int p = 1; p <= processes; p++) {
      int phase = state.get(at(p, PHASE));
      atRest &= phase == IDLE || phase == WAITS || phase == HOLDS;
      if (phase == HOLDS && state.get(owner) != p) {
        return "process " + p + " believes that it holds, and the row says otherwise";
      }
    }
    if (!atRest) {
      return null;
    }
    int holds = state.get(owner);
    if (state.get(counted) != waiters(state)) {
      return "the row counts " + state.get(counted) + " waiters of " + waiters(state);
    } else if (holds == 0 && waiters(state) > 0) {
      return "the lock is free, somebody waits, and nobody is woken";
    }
    return holds != 0 && state.get(at(holds, PHASE)) == IDLE
        ? "the lock belongs to process " + holds + ", which gave up"
        : null;
  }

  private int waiters(PackedState state) {
    int count = 0;
    while (count < processes && state.get(queue + count) != 0) {
      count++;
    }
    return count;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int p = 1; p <= processes; p++) {
      int phase = state.get(at(p, PHASE));
      switch (phase) {
        case IDLE -> begin(state, p, ASKING_FAST, " asks", step);
        case WAITS -> {
          if (state.get(owner) == p) {
            step.accept(p + " learns that it holds", state.with(at(p, PHASE), HOLDS));
          }
          int how = variant == Variant.LEAVES_WITHOUT_THE_ROW ? LEAVING : ENDING_FAST;
          begin(state, p, how, " gives up", step);
        }
        case HOLDS -> begin(state, p, ENDING_FAST, " lets go", step);
        case ASKING_FAST -> askFast(state, p, step);
        case ENDING_FAST -> endFast(state, p, step);
        case LEAVING -> leave(state, p, step);
        case COUNTING -> count(state, p, step);
        default -> inTransaction(state, p, phase, step);
      }
    }
  }

  /** A statement begins; it may have to wait for the row. */
  private void begin(
      PackedState state, int p, int phase, String what, BiConsumer<String, PackedState> step) {
    step.accept(p + what, begun(state, p, phase));
  }

  private PackedState begun(PackedState state, int p, int phase) {
    int saw = 0;
    for (int place = queue; place < queue + processes && state.get(place) != 0; place++) {
      saw |= 1 << (state.get(place) - 1);
    }
    return state.with(at(p, PHASE), phase).with(at(p, SAW), saw);
  }

  private boolean isLocked(PackedState state) {
    return state.get(locked) != 0;
  }

  private void askFast(PackedState state, int p, BiConsumer<String, PackedState> step) {
    if (isLocked(state)) {
      return;
    }
    if (state.get(owner) == 0 && state.get(counted) == 0) {
      PackedState.PackedStateBuilder next =
          state.draft().set(owner, p).set(at(p, PHASE), HOLDS).set(at(p, SAW), 0);
      step.accept(p + " gets it at once", next.done());
    } else {
      step.accept(p + " has to look closer", begun(state, p, ASKING));
    }
  }

  private void endFast(PackedState state, int p, BiConsumer<String, PackedState> step) {
    if (isLocked(state)) {
      return;
    }
    boolean mayFree = state.get(counted) == 0 || variant == Variant.RELEASES_WHOEVER_WAITS;
    if (state.get(owner) == p && mayFree) {
      PackedState.PackedStateBuilder next =
          state.draft().set(owner, 0).set(at(p, PHASE), IDLE).set(at(p, SAW), 0);
      step.accept(p + " frees it at once", next.done());
    } else if (state.get(owner) == p && variant == Variant.ONE_STATEMENT) {
      PackedState.PackedStateBuilder next =
          state.draft().set(at(p, PHASE), IDLE).set(at(p, SAW), 0);
      handOff(next, state.get(at(p, SAW)));
      step.accept(p + " hands it over in one statement", next.done());
    } else {
      step.accept(p + " has to look who waits", begun(state, p, ENDING));
    }
  }

  /** First the row is locked, then what hangs on it is read; at last all is committed at once. */
  private void inTransaction(
      PackedState state, int p, int phase, BiConsumer<String, PackedState> step) {
    if (!isLocked(state)) {
      int saw = state.get(at(p, SAW));
      PackedState next = variant == Variant.ONE_SNAPSHOT ? state : begun(state, p, phase);
      next = next.with(locked, p);
      step.accept(
          p + " locks the row, and reads",
          variant == Variant.ONE_SNAPSHOT ? next.with(at(p, SAW), saw) : next);
    } else if (state.get(locked) == p) {
      int saw = state.get(at(p, SAW));
      PackedState.PackedStateBuilder next = state.draft().set(locked, 0).set(at(p, SAW), 0);
      if (phase == ASKING) {
        ask(next, p, saw);
      } else {
        end(next, p, saw);
      }
      step.accept(p + (phase == ASKING ? " has asked" : " has ended"), next.done());
    }
  }

  private void ask(PackedState.PackedStateBuilder next, int p, int saw) {
    if (next.get(owner) == 0 && next.get(counted) > 0) {
      handOff(next, saw);
    }
    if (next.get(owner) == 0) {
      next.set(owner, p).set(at(p, PHASE), HOLDS);
    } else {
      int place = queue;
      while (next.get(place) != 0) {
        place++;
      }
      next.set(place, p).set(counted, next.get(counted) + 1).set(at(p, PHASE), WAITS);
    }
  }

  private void end(PackedState.PackedStateBuilder next, int p, int saw) {
    next.set(at(p, PHASE), IDLE);
    if (next.get(owner) == p) {
      handOff(next, saw);
    } else if (delete(next, p)) {
      next.set(counted, next.get(counted) - 1);
    }
  }

  /** To the first of those that were seen; an unseen waiter keeps its place. */
  private void handOff(PackedState.PackedStateBuilder next, int saw) {
    next.set(owner, 0);
    for (int place = queue; place < queue + processes && next.get(place) != 0; place++) {
      int waiter = next.get(place);
      if ((saw & 1 << (waiter - 1)) != 0) {
        delete(next, waiter);
        next.set(owner, waiter).set(counted, next.get(counted) - 1);
        return;
      }
    }
    for (int gone = 1; gone <= processes; gone++) {
      // It was seen waiting, and its row has been deleted since: the old version is still seen.
      if ((saw & 1 << (gone - 1)) != 0) {
        next.set(owner, gone).set(counted, Math.max(0, next.get(counted) - 1));
        return;
      }
    }
  }

  private boolean delete(PackedState.PackedStateBuilder next, int waiter) {
    boolean found = false;
    for (int place = queue; place < queue + processes; place++) {
      found |= next.get(place) == waiter;
      if (found) {
        next.set(place, place + 1 < queue + processes ? next.get(place + 1) : 0);
      }
    }
    return found;
  }

  private void leave(PackedState state, int p, BiConsumer<String, PackedState> step) {
    PackedState.PackedStateBuilder next = state.draft();
    if (delete(next, p)) {
      step.accept(
          p + " deletes its row", next.set(at(p, PHASE), COUNTING).set(at(p, SAW), 0).done());
    } else {
      step.accept(p + " finds no row of its own", begun(state, p, ENDING_FAST));
    }
  }

  private void count(PackedState state, int p, BiConsumer<String, PackedState> step) {
    if (!isLocked(state)) {
      int less = Math.max(0, state.get(counted) - 1);
      step.accept(p + " corrects the count", state.with(counted, less).with(at(p, PHASE), IDLE));
    }
  }
}
