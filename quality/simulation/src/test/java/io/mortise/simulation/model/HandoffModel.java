package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Release hands the lock to the queue's head, which may give up at the same time, die, or never
 * learn of it (invariants.md#head-is-served, invariants.md#one-way-to-leave). Processes ask, wait,
 * hold, and end their attempts in any order; requests of each arrive in order, but pushes overtake
 * answers and may be lost. Notifications of unknown attempts are ignored here: {@link
 * OrphanedAttemptModel} covers them. Connections for pushes break and are reopened; the store
 * grants only to processes with one, or to the asking process.
 *
 * <p>Violations: two processes believe; a grant skips a live and connected waiter; a process waits
 * although no holder can release, and polling does not help.
 */
final class HandoffModel implements Model<PackedState> {
  // Cells of a process.
  private static final int PHASE = 0;

  /** Its user was told that it holds, and has not released. */
  private static final int BELIEVES = 1;

  private static final int ACQUIRE = 2;
  private static final int ANSWER = 3;
  private static final int ABANDON = 4;
  private static final int ENDED = 5;
  private static final int PUSH = 6;
  private static final int NEWS = 7;

  /** The store has expired its session. */
  private static final int EXPIRED = 8;

  /** It has no connection for pushes. */
  private static final int CUT = 9;

  private static final int PROCESS = 10;

  private static final int IDLE = 0;
  private static final int ASKED = 1;
  private static final int QUEUED = 2;
  private static final int HELD = 3;
  private static final int ENDING = 4;
  private static final int DEAD = 5;

  private static final int SAYS_QUEUED = 1;
  private static final int SAYS_GRANTED = 2;

  private final Variant variant;
  private final int processes;
  private final int deaths;
  private final int cuts;
  private final int holder;
  private final int queue;
  private final int died;
  private final int wasCut;
  private final int passedOver;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** Waiters rely on pushes. */
    NO_POLLS,
    /** A cancel removes the waiter from the queue only. */
    CANCEL_LEAVES_THE_QUEUE_ONLY,
    /** An answer overtaken by a push is believed. */
    BELIEVES_LATE_ANSWERS,
    /** A request is granted if the lock is free, despite waiters. */
    SERVES_THE_ASKER,
    /** Only the queue's head detects a dead holder. */
    ONLY_THE_HEAD_TAKES_OVER,
    /** A holder without a connection counts as dead. */
    CONNECTION_DECIDES,
    /** A waiter without a connection is skipped even when it asks. */
    PASSES_THE_ASKER
  }

  HandoffModel(Variant variant, int processes, int deaths, int cuts) {
    this.variant = variant;
    this.processes = processes;
    this.deaths = deaths;
    this.cuts = cuts;
    this.holder = processes * PROCESS;
    this.queue = holder + 1;
    this.died = queue + processes;
    this.wasCut = died + 1;
    this.passedOver = wasCut + 1;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(passedOver + 1);
  }

  private static int at(int process, int cell) {
    return (process - 1) * PROCESS + cell;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    int believers = 0;
    for (int p = 1; p <= processes; p++) {
      believers += state.get(at(p, BELIEVES));
    }
    if (believers > 1) {
      return "two believe that they hold";
    } else if (state.get(passedOver) != 0) {
      return "process " + state.get(passedOver) + " was passed over";
    }
    return isStuck(state) ? "somebody waits for ever" : null;
  }

  private boolean isStuck(PackedState state) {
    int waiting = 0;
    for (int p = 1; p <= processes; p++) {
      int phase = state.get(at(p, PHASE));
      for (int wire = ACQUIRE; wire <= NEWS; wire++) {
        if (phase != DEAD && state.get(at(p, wire)) != 0) {
          return false;
        }
      }
      boolean settled = phase == IDLE || phase == QUEUED || state.get(at(p, EXPIRED)) == 1;
      if (!settled) {
        return false;
      }
      if (phase == QUEUED) {
        waiting++;
        PackedState.PackedStateBuilder asked = state.draft();
        acquire(asked, p);
        if (variant != Variant.NO_POLLS && !asked.set(at(p, ANSWER), 0).done().equals(state)) {
          return false;
        }
      }
    }
    return waiting > 0;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int p = 1; p <= processes; p++) {
      wire(state, p, step);
      if (state.get(at(p, PHASE)) == DEAD) {
        if (state.get(at(p, EXPIRED)) == 0) {
          step.accept("the session of " + p + " runs out", state.with(at(p, EXPIRED), 1));
        }
      } else {
        process(state, p, step);
        arrivals(state, p, step);
        if (state.get(at(p, CUT)) == 1) {
          step.accept(p + " connects again", state.with(at(p, CUT), 0));
        } else if (state.get(wasCut) < cuts) {
          PackedState.PackedStateBuilder cut = state.draft().set(at(p, CUT), 1).set(at(p, PUSH), 0);
          step.accept(p + " disconnects", cut.set(wasCut, state.get(wasCut) + 1).done());
        }
        if (state.get(died) < deaths) {
          PackedState.PackedStateBuilder dead =
              state.draft().set(at(p, PHASE), DEAD).set(at(p, BELIEVES), 0);
          dead.set(at(p, ANSWER), 0).set(at(p, ENDED), 0).set(at(p, PUSH), 0).set(at(p, NEWS), 0);
          dead.set(died, state.get(died) + 1);
          step.accept(p + " dies", dead.done());
          if (cuts > 0) {
            step.accept(p + " is killed", dead.set(at(p, CUT), 1).done());
          }
        }
      }
    }
  }

  private void process(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = state.get(at(p, PHASE));
    boolean quiet = true;
    for (int wire = ACQUIRE; wire <= NEWS; wire++) {
      quiet &= state.get(at(p, wire)) == 0;
    }
    if (phase == IDLE && quiet) {
      step.accept(p + " asks", state.with(at(p, PHASE), ASKED).with(at(p, ACQUIRE), 1));
    }
    if (phase == QUEUED && state.get(at(p, ACQUIRE)) == 0 && variant != Variant.NO_POLLS) {
      step.accept(p + " asks again", state.with(at(p, PHASE), ASKED).with(at(p, ACQUIRE), 1));
    }
    if (phase == ASKED || phase == QUEUED) {
      step.accept(p + " gives up", state.with(at(p, PHASE), ENDING).with(at(p, ABANDON), 1));
    }
    if (state.get(at(p, BELIEVES)) == 1 && phase != ENDING) {
      step.accept(
          p + " lets go",
          state.with(at(p, BELIEVES), 0).with(at(p, PHASE), ENDING).with(at(p, ABANDON), 2));
    }
  }

  private void arrivals(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int phase = state.get(at(p, PHASE));
    int answer = state.get(at(p, ANSWER));
    if (answer != 0) {
      PackedState.PackedStateBuilder next = state.draft().set(at(p, ANSWER), 0);
      if (phase == ASKED && answer == SAYS_GRANTED) {
        held(next, p);
      } else if (phase == ASKED
          || (phase == HELD && answer == SAYS_QUEUED && variant == Variant.BELIEVES_LATE_ANSWERS)) {
        next.set(at(p, PHASE), QUEUED);
      }
      step.accept(p + (answer == SAYS_GRANTED ? " hears granted" : " hears queued"), next.done());
    }
    if (state.get(at(p, ENDED)) == 1) {
      step.accept(p + " hears ended", state.with(at(p, ENDED), 0).with(at(p, PHASE), IDLE));
    }
    if (state.get(at(p, PUSH)) == 1) {
      step.accept("the push to " + p + " is lost", state.with(at(p, PUSH), 0));
    }
    for (int way : new int[] {PUSH, NEWS}) {
      if (state.get(at(p, way)) == 1) {
        PackedState.PackedStateBuilder next = state.draft().set(at(p, way), 0);
        if (phase == ASKED || phase == QUEUED) {
          held(next, p);
        }
        step.accept(p + (way == PUSH ? " is called" : " learns with a renewal"), next.done());
      }
    }
  }

  private static void held(PackedState.PackedStateBuilder next, int p) {
    next.set(at(p, PHASE), HELD).set(at(p, BELIEVES), 1);
  }

  // ---- The store ----

  private void wire(PackedState state, int p, BiConsumer<String, PackedState> step) {
    if (state.get(at(p, ACQUIRE)) == 1) {
      PackedState.PackedStateBuilder next = state.draft().set(at(p, ACQUIRE), 0);
      if (state.get(at(p, EXPIRED)) == 0) {
        acquire(next, p);
      }
      step.accept("the store is asked by " + p, next.done());
    } else if (state.get(at(p, ABANDON)) != 0) {
      PackedState.PackedStateBuilder next = state.draft().set(at(p, ABANDON), 0);
      abandon(next, p, state.get(at(p, ABANDON)) == 2);
      step.accept("the store ends the attempt of " + p, next.done());
    }
  }

  private void acquire(PackedState.PackedStateBuilder lock, int p) {
    int holds = lock.get(holder);
    boolean head = lock.get(queue) == 0 || lock.get(queue) == p;
    boolean mayJudge = head || variant != Variant.ONLY_THE_HEAD_TAKES_OVER;
    boolean gone =
        holds != 0
            && (lock.get(at(holds, EXPIRED)) == 1
                || (variant == Variant.CONNECTION_DECIDES && lock.get(at(holds, CUT)) == 1));
    if (gone && mayJudge) {
      lock.set(holder, 0);
    }
    if (lock.get(holder) == 0 && variant == Variant.SERVES_THE_ASKER) {
      leave(lock, p);
      grant(lock, p);
    }
    if (mayJudge) {
      serve(lock, p);
    }
    if (lock.get(holder) == 0 && isFirstConnected(lock, p)) {
      leave(lock, p);
      grant(lock, p);
    }
    if (lock.get(holder) != p) {
      int place = queue;
      while (lock.get(place) != 0 && lock.get(place) != p) {
        place++;
      }
      lock.set(place, p);
    }
    boolean listens = lock.get(at(p, PHASE)) != DEAD;
    lock.set(at(p, ANSWER), !listens ? 0 : lock.get(holder) == p ? SAYS_GRANTED : SAYS_QUEUED);
  }

  private void abandon(PackedState.PackedStateBuilder lock, int p, boolean held) {
    boolean waited = leave(lock, p);
    if (lock.get(holder) == p
        && !waited
        && (held || variant != Variant.CANCEL_LEAVES_THE_QUEUE_ONLY)) {
      lock.set(holder, 0).set(at(p, NEWS), 0);
    }
    serve(lock, 0);
    lock.set(at(p, ENDED), lock.get(at(p, PHASE)) == DEAD ? 0 : 1);
  }

  private boolean leave(PackedState.PackedStateBuilder lock, int p) {
    boolean found = false;
    for (int place = queue; place < queue + processes; place++) {
      found |= lock.get(place) == p;
      if (found) {
        lock.set(place, place + 1 < queue + processes ? lock.get(place + 1) : 0);
      }
    }
    return found;
  }

  /** Whether all waiters before it lack a connection. */
  private boolean isFirstConnected(PackedState.PackedStateBuilder lock, int p) {
    if (variant == Variant.PASSES_THE_ASKER && lock.get(at(p, CUT)) == 1) {
      return false;
    }
    for (int place = queue; place < queue + processes && lock.get(place) != p; place++) {
      int before = lock.get(place);
      if (before != 0 && lock.get(at(before, CUT)) == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Grants to the first live and connected waiter, and notifies it by a push and with its next
   * renewal.
   *
   * @param asking the process that is answered, and learns of a grant in any case
   */
  private void serve(PackedState.PackedStateBuilder lock, int asking) {
    int place = queue;
    while (lock.get(holder) == 0 && place < queue + processes && lock.get(place) != 0) {
      int next = lock.get(place);
      boolean answered = next == asking && variant != Variant.PASSES_THE_ASKER;
      if (lock.get(at(next, EXPIRED)) == 1) {
        leave(lock, next);
      } else if (lock.get(at(next, CUT)) == 0 || answered) {
        grant(lock, next);
        boolean listens = lock.get(at(next, PHASE)) != DEAD;
        boolean called = listens && lock.get(at(next, CUT)) == 0;
        lock.set(at(next, PUSH), called ? 1 : 0).set(at(next, NEWS), listens ? 1 : 0);
        leave(lock, next);
      } else {
        place++;
      }
    }
  }

  private void grant(PackedState.PackedStateBuilder lock, int p) {
    for (int place = queue; place < queue + processes; place++) {
      int before = lock.get(place);
      if (before == p || before == 0) {
        break;
      } else if (lock.get(at(before, EXPIRED)) == 0 && lock.get(at(before, CUT)) == 0) {
        lock.set(passedOver, before);
      }
    }
    lock.set(holder, p);
  }
}
