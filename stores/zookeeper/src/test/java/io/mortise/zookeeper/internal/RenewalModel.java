package io.mortise.zookeeper.internal;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether renewals that are proven a tick after they were sent keep a lease if the connection
 * breaks once, at any time, and is restored after a sixteenth of the TTL. The engine renews a third
 * of the TTL after the last renewal was sent, or a little sooner, and retries a sixth of the TTL
 * after a renewal without an answer. Safety does not depend on it: {@link LeaderContactModel}
 * covers the meaning of a proof.
 *
 * <p>A unit of time is a 48th of the TTL. Three round trips take one; the engine's margin for drift
 * is two, as with a TTL of 1.2 s.
 *
 * <p>The violation: the lease ended.
 */
final class RenewalModel implements Model<PackedState> {
  static final int TTL = 48;
  private static final int THIRD = TTL / 3;
  private static final int SIXTH = TTL / 6;
  private static final int MARGIN = 2;

  /** How long the lease is still valid. */
  private static final int LEFT = 0;

  /** When the engine renews next. */
  private static final int DUE = 1;

  /** Until when there is no connection; how many times one has broken. */
  private static final int DOWN = 2;

  private static final int BROKEN = 3;

  /** From here on: requests by their age in units. */
  private static final int SENT = 4;

  private static final int NOTHING = 0;
  private static final int ASKED = 1;
  private static final int ANSWERED = 2;

  /** Surely known to the leader, whatever happens to the connection. */
  private static final int PROVEN = 3;

  private final int tick;
  private final int slack;
  private final int ages;

  /**
   * A tick and a session's timeout.
   *
   * @param tick in units
   * @param slack the session's timeout minus the TTL
   */
  RenewalModel(int tick, int slack) {
    this.tick = tick;
    this.slack = slack;
    this.ages = Math.min(200, tick + slack + TTL);
  }

  @Override
  public PackedState initial() {
    // The session is younger than the request that opened it.
    return PackedState.of(SENT + ages)
        .draft()
        .set(LEFT, TTL - MARGIN)
        .set(DUE, THIRD)
        .set(SENT, PROVEN)
        .done();
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return state.get(LEFT) <= 0 ? "the lease ended" : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("time passes", passed(state, false).done());
    if (state.get(DUE) == 2) {
      step.accept("time passes, a renewal comes sooner", passed(state, true).done());
    }
    if (state.get(BROKEN) == 0) {
      PackedState.PackedStateBuilder next = state.draft().set(BROKEN, 1).set(DOWN, TTL / 16);
      boolean known = false;
      for (int age = 0; age < ages; age++) {
        boolean keeps = !known && next.get(SENT + age) == PROVEN;
        next.set(SENT + age, keeps ? PROVEN : NOTHING);
        known |= keeps;
      }
      // Requests in flight are answered with a connection loss.
      next.set(DUE, 1);
      step.accept("the connection breaks", next.done());
    }
  }

  private PackedState.PackedStateBuilder passed(PackedState state, boolean sooner) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int age = ages - 1; age > 0; age--) {
      next.set(SENT + age, next.get(SENT + age - 1));
    }
    next.set(SENT, NOTHING);
    next.set(LEFT, next.get(LEFT) - 1);
    next.set(DOWN, Math.max(0, next.get(DOWN) - 1));
    next.set(DUE, next.get(DUE) - 1);
    settle(next);
    if (next.get(DUE) <= 0 || sooner) {
      if (next.get(DOWN) > 0) {
        next.set(DUE, 1);
      } else {
        next.set(SENT, ASKED);
        next.set(DUE, SIXTH);
        settle(next);
      }
    }
    return next;
  }

  /**
   * A request sent a tick and three round trips ago is proven, together with slightly later ones.
   */
  private void settle(PackedState.PackedStateBuilder next) {
    for (int age = tick + 1; age < ages; age++) {
      if (next.get(SENT + age) == ASKED) {
        answer(next, age);
      }
      if (next.get(SENT + age) == ANSWERED) {
        next.set(SENT + age, PROVEN);
      }
    }
    int youngest = ages;
    for (int age = ages - 1; age >= 0; age--) {
      youngest = next.get(SENT + age) == PROVEN ? age : youngest;
    }
    for (int age = ages - 1; age >= 0; age--) {
      if (next.get(SENT + age) == ASKED && youngest < ages && youngest <= age + slack) {
        answer(next, age);
      }
    }
  }

  private static void answer(PackedState.PackedStateBuilder next, int age) {
    next.set(SENT + age, ANSWERED);
    next.set(LEFT, Math.max(next.get(LEFT), TTL - MARGIN - age));
    next.set(DUE, Math.max(0, THIRD - age));
  }
}
