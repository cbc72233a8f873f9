package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Late requests and lost answers (invariants.md#leftovers-end). A process makes some attempts over
 * a network that delays, loses and repeats its requests; its session never ends. Another process,
 * whose network is faultless, wants the lock too.
 *
 * <p>Violations: an attempt unknown to its process holds a lock that has a waiter, and nothing in
 * flight would end it. If the network delivers in bounded time, this must not happen even without a
 * waiter. Also: an attempt is believed to hold but does not.
 */
final class OrphanedAttemptModel implements Model<PackedState> {
  // Cells of an attempt, in the process that made it.
  private static final int PHASE = 0;
  private static final int ASKING = 1;
  private static final int DOUBT = 2;
  private static final int DOUBTFUL = 3;
  private static final int MET = 4;
  private static final int AGAIN = 5;
  private static final int AWAITED = 6;

  // On the wire: acquires, abandons, and whether the awaited answer to an abandon is.
  private static final int ACQUIRES = 7;
  private static final int ABANDONS = 8;
  private static final int ENDED = 9;

  /** In the store: a notification about it for its session. */
  private static final int NEWS = 10;

  private static final int ATTEMPT = 11;

  private static final int NEW = 0;
  private static final int ASKED = 1;
  private static final int HELD = 2;
  private static final int ENDING = 3;
  private static final int UNKNOWN = 4;

  private static final int WANTED = 1;
  private static final int GRANTED = 2;

  private final Variant variant;
  private final int attempts;
  private final int copies;
  private final boolean bounded;

  /** The other process, in the places of holder and queue. */
  private final int other;

  // Cells of the lock in the store: holder and queue by number from one, zero for nobody.
  private final int holder;
  private final int told;
  private final int lastEnd;
  private final int queue;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** A contender leaves no note for the holder. */
    NO_NOTE,
    /** Notifications of unknown attempts are not answered. */
    KEEPS_UNKNOWN,
    /** An attempt in doubt is ended once, but not again after all its requests have arrived. */
    ENDS_ONCE,
    /** A note about an attempt that is being ended is ignored as stale. */
    DEAF_TO_NOTES_WHILE_ENDING,
    /** A grant of an attempt that is being ended is ignored as stale. */
    DEAF_TO_GRANTS_WHILE_ENDING,
    /** A notification of an attempt not answered yet is taken for one of a leftover. */
    ENDS_WHAT_IT_ASKED_FOR
  }

  /**
   * The model.
   *
   * @param copies of a request that may be on the wire at a time
   * @param bounded whether an attempt in doubt is ended again only when its requests have arrived
   */
  OrphanedAttemptModel(Variant variant, int attempts, int copies, boolean bounded) {
    this.variant = variant;
    this.attempts = attempts;
    this.copies = copies;
    this.bounded = bounded;
    this.other = attempts + 1;
    this.holder = attempts * ATTEMPT;
    this.told = holder + 1;
    this.lastEnd = holder + 2;
    this.queue = holder + 3;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(queue + attempts + 1);
  }

  private static int at(int attempt, int cell) {
    return (attempt - 1) * ATTEMPT + cell;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    int holds = state.get(holder);
    for (int a = 1; a <= attempts; a++) {
      if (state.get(at(a, PHASE)) == HELD && holds != a) {
        return "attempt " + a + " is believed to hold and does not";
      }
    }
    if (holds == 0 || holds == other || state.get(at(holds, PHASE)) != UNKNOWN || moves(state)) {
      return null;
    }
    if (bounded) {
      return "attempt " + holds + " holds for nobody, though all requests have arrived";
    }
    boolean noteLeft = state.get(told) == 1 || variant == Variant.NO_NOTE;
    return noteLeft && waits(state, other)
        ? "attempt " + holds + " holds for nobody, and the other waits for ever"
        : null;
  }

  /** Whether messages about ended attempts are in flight. */
  private boolean moves(PackedState state) {
    for (int a = 1; a <= attempts; a++) {
      if (state.get(at(a, ACQUIRES)) + state.get(at(a, ABANDONS)) + state.get(at(a, ENDED)) > 0
          || state.get(at(a, NEWS)) != 0
          || state.get(at(a, PHASE)) == ENDING) {
        return true;
      }
    }
    return false;
  }

  private boolean waits(PackedState state, int who) {
    for (int place = queue; place <= queue + attempts; place++) {
      if (state.get(place) == who) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    boolean mayBegin = true;
    for (int a = 1; a <= attempts; a++) {
      int phase = state.get(at(a, PHASE));
      if (phase == NEW) {
        if (mayBegin) {
          step.accept("attempt " + a + " asks", asked(state, a));
        }
        break;
      }
      mayBegin = phase == ENDING || phase == UNKNOWN;
      process(state, a, step);
      network(state, a, step);
    }
    theOther(state, step);
  }

  // ---- The process ----

  private PackedState asked(PackedState state, int a) {
    return state
        .draft()
        .set(at(a, PHASE), ASKED)
        .set(at(a, ASKING), 1)
        .set(at(a, ACQUIRES), state.get(at(a, ACQUIRES)) + 1)
        .done();
  }

  private void process(PackedState state, int a, BiConsumer<String, PackedState> step) {
    int phase = state.get(at(a, PHASE));
    boolean asking = state.get(at(a, ASKING)) == 1;
    if (phase == ASKED && !asking && state.get(at(a, ACQUIRES)) < copies) {
      step.accept("attempt " + a + " asks again", asked(state, a));
    }
    if (asking) {
      step.accept(
          "attempt " + a + " gets no answer", state.with(at(a, ASKING), 0).with(at(a, DOUBT), 1));
    }
    if (phase == ASKED || phase == HELD) {
      step.accept("attempt " + a + " is to end", ending(state.draft(), a).done());
    }
    if (phase == ENDING) {
      ends(state, a, step);
    }
    if (state.get(at(a, NEWS)) != 0) {
      PackedState.PackedStateBuilder heard = state.draft();
      hear(heard, a, state.get(at(a, NEWS)));
      step.accept("news of attempt " + a + ", and again", heard.done());
      step.accept("news of attempt " + a, heard.set(at(a, NEWS), 0).done());
    }
  }

  private PackedState.PackedStateBuilder ending(PackedState.PackedStateBuilder next, int a) {
    int doubtful = next.get(at(a, ASKING)) | next.get(at(a, DOUBT));
    return next.set(at(a, PHASE), ENDING).set(at(a, DOUBT), 0).set(at(a, DOUBTFUL), doubtful);
  }

  private void ends(PackedState state, int a, BiConsumer<String, PackedState> step) {
    boolean awaited = state.get(at(a, AWAITED)) == 1;
    boolean waitsToRepeat = state.get(at(a, AGAIN)) == 1;
    if (!awaited && !waitsToRepeat && state.get(at(a, ABANDONS)) < copies) {
      int abandons = state.get(at(a, ABANDONS)) + 1;
      step.accept(
          "sends the end of attempt " + a,
          state.with(at(a, AWAITED), 1).with(at(a, ABANDONS), abandons));
    }
    boolean allArrived = state.get(at(a, ACQUIRES)) + state.get(at(a, ABANDONS)) == 0;
    if (waitsToRepeat && (allArrived || !bounded)) {
      step.accept("will end attempt " + a + " again", state.with(at(a, AGAIN), 0));
    }
    if (awaited) {
      step.accept(
          "no answer to the end of attempt " + a,
          state.with(at(a, AWAITED), 0).with(at(a, ENDED), 0));
    }
    if (state.get(at(a, ENDED)) == 1) {
      PackedState.PackedStateBuilder next =
          state.draft().set(at(a, AWAITED), 0).set(at(a, ENDED), 0);
      if (next.get(at(a, MET)) == 1) {
        next.set(at(a, MET), 0);
      } else if (next.get(at(a, DOUBTFUL)) == 1 && variant != Variant.ENDS_ONCE) {
        next.set(at(a, DOUBTFUL), 0).set(at(a, AGAIN), 1);
      } else {
        next.set(at(a, PHASE), UNKNOWN).set(at(a, DOUBTFUL), 0);
      }
      step.accept("hears that attempt " + a + " has ended", next.done());
    }
  }

  private void hear(PackedState.PackedStateBuilder next, int a, int notifications) {
    switch (next.get(at(a, PHASE))) {
      case ASKED -> {
        if (variant == Variant.ENDS_WHAT_IT_ASKED_FOR && notifications == WANTED) {
          next.set(at(a, ABANDONS), Math.min(copies, next.get(at(a, ABANDONS)) + 1));
        } else if (notifications == GRANTED) {
          next.set(at(a, PHASE), HELD);
        }
      }
      case ENDING -> {
        boolean deaf =
            notifications == WANTED
                ? variant == Variant.DEAF_TO_NOTES_WHILE_ENDING
                : variant == Variant.DEAF_TO_GRANTS_WHILE_ENDING;
        next.set(at(a, MET), deaf ? next.get(at(a, MET)) : 1);
      }
      case UNKNOWN -> endUnknown(next, a);
      default -> {}
    }
  }

  private void endUnknown(PackedState.PackedStateBuilder next, int a) {
    if (variant != Variant.KEEPS_UNKNOWN) {
      next.set(at(a, PHASE), ENDING);
    }
  }

  // ---- The wire, and the store behind it ----

  private void network(PackedState state, int a, BiConsumer<String, PackedState> step) {
    int acquires = state.get(at(a, ACQUIRES));
    if (acquires > 0) {
      step.accept(
          "an acquire of attempt " + a + " is lost", state.with(at(a, ACQUIRES), acquires - 1));
      PackedState.PackedStateBuilder there = state.draft().set(at(a, ACQUIRES), acquires - 1);
      ReplyKind replyKind = acquire(there, a);
      step.accept("acquires for attempt " + a + ": " + replyKind + ", unheard", there.done());
      if (state.get(at(a, ASKING)) == 1) {
        answered(there.set(at(a, ASKING), 0), a, replyKind);
        step.accept("acquires for attempt " + a + ": " + replyKind, there.done());
      }
    }
    int abandons = state.get(at(a, ABANDONS));
    if (abandons > 0) {
      step.accept("an end of attempt " + a + " is lost", state.with(at(a, ABANDONS), abandons - 1));
      PackedState.PackedStateBuilder there = state.draft().set(at(a, ABANDONS), abandons - 1);
      abandon(there, a);
      step.accept("ends attempt " + a + ", unheard", there.done());
      if (state.get(at(a, AWAITED)) == 1 && state.get(at(a, ENDED)) == 0) {
        step.accept("ends attempt " + a, there.set(at(a, ENDED), 1).done());
      }
    }
  }

  private enum ReplyKind {
    GRANTED,
    QUEUED,
    REFUSED
  }

  private void answered(PackedState.PackedStateBuilder next, int a, ReplyKind replyKind) {
    int phase = next.get(at(a, PHASE));
    if (phase == ASKED && replyKind == ReplyKind.GRANTED) {
      next.set(at(a, PHASE), HELD);
    } else if (phase == ASKED && replyKind == ReplyKind.REFUSED) {
      next.set(at(a, PHASE), UNKNOWN);
    } else if (phase == UNKNOWN && replyKind == ReplyKind.GRANTED) {
      endUnknown(next, a);
    }
  }

  private ReplyKind acquire(PackedState.PackedStateBuilder lock, int a) {
    if (lock.get(holder) != a && lock.get(lastEnd) == a) {
      return ReplyKind.REFUSED;
    }
    serve(lock);
    if (lock.get(holder) == 0) {
      grant(lock, a);
    }
    if (lock.get(holder) == a) {
      noteWaiters(lock);
      return ReplyKind.GRANTED;
    }
    enqueue(lock, a);
    return ReplyKind.QUEUED;
  }

  private void enqueue(PackedState.PackedStateBuilder lock, int who) {
    int holds = lock.get(holder);
    if (lock.get(told) == 0 && variant != Variant.NO_NOTE) {
      lock.set(told, 1);
      if (holds != other) {
        lock.set(at(holds, NEWS), WANTED);
      }
    }
    int place = queue;
    while (lock.get(place) != 0 && lock.get(place) != who) {
      place++;
    }
    lock.set(place, who);
  }

  private void abandon(PackedState.PackedStateBuilder lock, int a) {
    if (lock.get(holder) == a) {
      lock.set(holder, 0).set(told, 0).set(lastEnd, a).set(at(a, NEWS), 0);
    } else if (leave(lock, a)) {
      lock.set(lastEnd, a);
    }
    serve(lock);
  }

  private boolean leave(PackedState.PackedStateBuilder lock, int who) {
    boolean found = false;
    for (int place = queue; place <= queue + attempts; place++) {
      found |= lock.get(place) == who;
      if (found) {
        lock.set(place, place < queue + attempts ? lock.get(place + 1) : 0);
      }
    }
    return found;
  }

  private void serve(PackedState.PackedStateBuilder lock) {
    int head = lock.get(queue);
    if (lock.get(holder) == 0 && head != 0) {
      leave(lock, head);
      grant(lock, head);
      noteWaiters(lock);
      if (head != other) {
        lock.set(at(head, NEWS), GRANTED);
      }
    }
  }

  private void grant(PackedState.PackedStateBuilder lock, int who) {
    lock.set(holder, who).set(told, 0);
  }

  /** A grant reports waiters, so no note is needed for them. */
  private void noteWaiters(PackedState.PackedStateBuilder lock) {
    if (lock.get(queue) != 0) {
      lock.set(told, 1);
    }
  }

  // ---- The other process ----

  private void theOther(PackedState state, BiConsumer<String, PackedState> step) {
    PackedState.PackedStateBuilder next = state.draft();
    if (state.get(holder) == other) {
      next.set(holder, 0).set(told, 0).set(lastEnd, other);
      serve(next);
      step.accept("the other lets go", next.done());
    } else {
      serve(next);
      if (next.get(holder) == 0) {
        grant(next, other);
      } else if (next.get(holder) != other) {
        enqueue(next, other);
      }
      step.accept("the other asks", next.done());
    }
  }
}
