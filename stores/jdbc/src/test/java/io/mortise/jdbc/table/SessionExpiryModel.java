package io.mortise.jdbc.table;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes of a lock from a holder that seems to be dead, under READ COMMITTED
 * (invariants.md#judge-apart). A statement that waited for a row looks at the newest version of
 * that row, but at all other rows as they were when it began. Processes open sessions, a few each,
 * renew them or lose them, take the lock and give it back; a session's row is over only when its
 * owner has ceased to count on it.
 *
 * <p>Broken is: somebody believes that he holds, and the row says otherwise.
 */
final class SessionExpiryModel implements Model<PackedState> {
  // Cells of a session: its row, how old that is, whether its owner counts on it.
  private static final int ROW = 0;
  private static final int AGE = 1;
  private static final int COUNTED = 2;
  private static final int SESSION = 3;

  private static final int NEVER = 0;
  private static final int OPEN = 1;
  private static final int GONE = 2;

  private static final int FRESH = 0;
  private static final int STALE = 1;
  private static final int OVER = 2;

  // Cells of a process: its state, its current session, the sessions its statement saw alive, the
  // session it judges, and whether it was granted the lock.
  private static final int PHASE = 0;
  private static final int NUMBER = 1;
  private static final int SAW = 2;
  private static final int SUSPECT = 3;
  private static final int GRANTED = 4;
  private static final int PROCESS = 5;

  private static final int IDLE = 0;
  private static final int FAST = 1;
  private static final int SLOW = 2;
  private static final int JUDGING = 3;
  private static final int DELETING = 4;
  private static final int PROOF = 5;

  private final Variant variant;
  private final int processes;
  private final int sessions;
  private final int owner;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** The statement that takes the lock also looks whether the holder's session is there. */
    JUDGES_IN_PASSING,
    /** A session is read, found over, and then deleted whatever became of it. */
    READS_THEN_DELETES,
    /** A process with proof against a holder takes the lock from its current holder. */
    TAKES_WHATEVER_IS_THERE,
    /** The proof is against a process, not a session of it. */
    COMPARES_PROCESSES,
    /** The lock is asked for before the session's row is committed. */
    ASKS_BEFORE_ITS_SESSION_IS_OPEN
  }

  SessionExpiryModel(Variant variant, int processes, int sessionsEach) {
    this.variant = variant;
    this.processes = processes;
    this.sessions = sessionsEach;
    this.owner = processes * (PROCESS + sessionsEach * SESSION);
  }

  @Override
  public PackedState initial() {
    return PackedState.of(owner + 1);
  }

  private static int at(int process, int cell) {
    return process * PROCESS + cell;
  }

  /** Sessions count from one: all of the first process, then all of the next. */
  private int of(int session, int cell) {
    return processes * PROCESS + (session - 1) * SESSION + cell;
  }

  private int mine(PackedState state, int p) {
    return p * sessions + state.get(at(p, NUMBER)) + 1;
  }

  private boolean lives(PackedState state, int session) {
    return state.get(of(session, ROW)) == OPEN && state.get(of(session, AGE)) != OVER;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    for (int p = 0; p < processes; p++) {
      int session = mine(state, p);
      boolean believes =
          state.get(at(p, GRANTED)) == 1
              && state.get(of(session, COUNTED)) == 1
              && state.get(of(session, ROW)) != NEVER;
      if (believes && state.get(owner) != session) {
        return "process " + p + " believes that it holds, and the row says otherwise";
      }
    }
    return null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int p = 0; p < processes; p++) {
      session(state, p, step);
      process(state, p, step);
    }
    for (int s = 1; s <= processes * sessions; s++) {
      boolean counted = state.get(of(s, COUNTED)) == 1;
      if (state.get(of(s, ROW)) == OPEN && state.get(of(s, AGE)) == FRESH) {
        step.accept("session " + s + " grows old", state.with(of(s, AGE), STALE));
      } else if (state.get(of(s, ROW)) == OPEN && state.get(of(s, AGE)) == STALE && !counted) {
        step.accept("session " + s + " is over", state.with(of(s, AGE), OVER));
      }
    }
  }

  private void session(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int s = mine(state, p);
    int row = state.get(of(s, ROW));
    if (row == NEVER) {
      step.accept(
          "session " + s + " is opened", state.with(of(s, ROW), OPEN).with(of(s, COUNTED), 1));
    } else if (state.get(of(s, COUNTED)) == 1) {
      if (state.get(of(s, AGE)) == STALE && row == OPEN) {
        step.accept("session " + s + " is renewed", state.with(of(s, AGE), FRESH));
      }
      if (state.get(of(s, AGE)) != FRESH) {
        PackedState lost = state.with(of(s, COUNTED), 0).with(at(p, GRANTED), 0);
        step.accept("session " + s + " is not renewed in time", lost);
      }
    } else if (state.get(at(p, PHASE)) == IDLE && state.get(at(p, NUMBER)) + 1 < sessions) {
      step.accept(
          "process " + p + " begins anew", state.with(at(p, NUMBER), state.get(at(p, NUMBER)) + 1));
    }
  }

  private void process(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int s = mine(state, p);
    boolean counts = state.get(of(s, COUNTED)) == 1;
    String who = "process " + p;
    switch (state.get(at(p, PHASE))) {
      case IDLE -> {
        boolean early =
            variant == Variant.ASKS_BEFORE_ITS_SESSION_IS_OPEN && state.get(of(s, ROW)) == NEVER;
        if ((counts || early) && state.get(at(p, GRANTED)) == 0) {
          step.accept(
              who + " asks", state.with(at(p, PHASE), FAST).with(at(p, SAW), snapshot(state)));
        }
        if (state.get(at(p, GRANTED)) == 1) {
          PackedState next = state.with(at(p, GRANTED), 0);
          step.accept(who + " lets go", state.get(owner) == s ? next.with(owner, 0) : next);
        }
      }
      case FAST -> fast(state, p, s, step);
      case SLOW -> slow(state, p, s, step);
      case JUDGING, DELETING -> judge(state, p, step);
      default -> proof(state, p, s, step);
    }
  }

  /** As a statement sees the sessions that begins now. */
  private int snapshot(PackedState state) {
    int saw = 0;
    for (int s = 1; s <= processes * sessions; s++) {
      saw |= lives(state, s) ? 1 << (s - 1) : 0;
    }
    return saw;
  }

  private boolean saw(PackedState state, int p, int session) {
    return (state.get(at(p, SAW)) & 1 << (session - 1)) != 0;
  }

  private PackedState.PackedStateBuilder idle(PackedState state, int p) {
    return state.draft().set(at(p, PHASE), IDLE).set(at(p, SAW), 0).set(at(p, SUSPECT), 0);
  }

  /** It has the row, perhaps after a wait: the newest owner, and sessions as they were. */
  private void fast(PackedState state, int p, int s, BiConsumer<String, PackedState> step) {
    int holds = state.get(owner);
    boolean early = variant == Variant.ASKS_BEFORE_ITS_SESSION_IS_OPEN;
    boolean free = holds == 0;
    if (variant == Variant.JUDGES_IN_PASSING) {
      free |= !saw(state, p, holds);
    }
    if (free && (early || saw(state, p, s))) {
      granted(state, p, s, step);
    } else {
      PackedState next = state.with(at(p, PHASE), SLOW).with(at(p, SAW), 0);
      step.accept("process " + p + " does not get it at once", next);
    }
  }

  private void granted(PackedState state, int p, int s, BiConsumer<String, PackedState> step) {
    boolean counts = state.get(of(s, COUNTED)) == 1 || state.get(of(s, ROW)) == NEVER;
    PackedState.PackedStateBuilder next = idle(state, p).set(owner, s);
    step.accept("process " + p + " gets it", next.set(at(p, GRANTED), counts ? 1 : 0).done());
  }

  /** The row is locked first; so what is read then is fresh. */
  private void slow(PackedState state, int p, int s, BiConsumer<String, PackedState> step) {
    int holds = state.get(owner);
    if (!lives(state, s)) {
      step.accept("process " + p + " has no session", idle(state, p).done());
    } else if (holds == 0) {
      granted(state, p, s, step);
    } else if (!lives(state, holds)) {
      step.accept(
          "process " + p + " suspects session " + holds,
          state.with(at(p, PHASE), JUDGING).with(at(p, SUSPECT), holds));
    } else {
      step.accept("process " + p + " finds it busy", idle(state, p).done());
    }
    if (variant == Variant.READS_THEN_DELETES && holds != 0 && state.get(of(holds, AGE)) == STALE) {
      // It reads the row, and then the clock; by then the row has another version.
      step.accept(
          "process " + p + " reads session " + holds,
          state.with(at(p, PHASE), DELETING).with(at(p, SUSPECT), holds));
    }
  }

  /** A statement of its own, whose condition holds for the newest version of the row. */
  private void judge(PackedState state, int p, BiConsumer<String, PackedState> step) {
    int suspect = state.get(at(p, SUSPECT));
    PackedState proven = state.with(at(p, PHASE), PROOF);
    if (!lives(state, suspect)) {
      PackedState deleted =
          state.get(of(suspect, ROW)) == OPEN ? proven.with(of(suspect, ROW), GONE) : proven;
      step.accept("session " + suspect + " is judged to be over", deleted);
    } else if (state.get(at(p, PHASE)) == DELETING && state.get(of(suspect, AGE)) == FRESH) {
      step.accept("session " + suspect + " is deleted", proven.with(of(suspect, ROW), GONE));
    } else {
      step.accept("session " + suspect + " is judged to live", idle(state, p).done());
    }
  }

  private void proof(PackedState state, int p, int s, BiConsumer<String, PackedState> step) {
    int holds = state.get(owner);
    int dead = state.get(at(p, SUSPECT));
    boolean takes =
        switch (variant) {
          case TAKES_WHATEVER_IS_THERE -> true;
          case COMPARES_PROCESSES -> holds != 0 && (holds - 1) / sessions == (dead - 1) / sessions;
          default -> holds == dead;
        };
    if ((takes || holds == 0) && lives(state, s)) {
      granted(state, p, s, step);
    } else {
      step.accept("process " + p + " comes too late", idle(state, p).done());
    }
  }
}
