package io.mortise.zookeeper;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A holder renews by writing its session's node over the version that it knows; a waiter that has
 * seen one version for a TTL, by its own clock, removes that node and passes the holder's ({@link
 * SilentSessions}). Requests and answers take any time and may be lost. The waiter reads from a
 * follower that lags, and its clock gains a unit on the holder's.
 *
 * <p>Violation: the lock is free, and its holder believes that it holds.
 */
final class SilentSessionModel implements Model<PackedState> {
  private static final int NONE = -1;
  private static final Duration UNIT = Duration.ofMillis(1);

  // The holder: units since the last confirmed renewal was sent, and since the one in flight was;
  // the state of that one, and the version that it is written over.
  private static final int CONFIRMED = 0;
  private static final int SENT = 1;
  private static final int STATE = 2;
  private static final int KNOWN = 3;

  /** The version of the session's node at the leader, and at the waiter's follower. */
  private static final int LEADER = 4;

  private static final int FOLLOWER = 5;

  // The waiter: the version seen last, and for how long; since when it has been reading, and the
  // follower's answer; the version of the removal in flight; whether its clock has gained.
  private static final int SEEN = 6;
  private static final int STOOD = 7;
  private static final int READING = 8;
  private static final int ANSWER = 9;
  private static final int REMOVAL = 10;
  private static final int GAINED = 11;

  /** Whether the holder's node was passed. */
  private static final int FREE = 12;

  /** The follower has no node of the session. */
  private static final int GONE = -2;

  private static final int ON_ITS_WAY = 0;
  private static final int EXECUTED = 1;
  private static final int OTHER_VERSION = 2;

  private final Variant variant;
  private final int ttl;
  private final int writes;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** The session's node is removed without comparing its version. */
    REMOVES_ANY_VERSION,
    /** The waiter counts on although the version has changed. */
    COUNTS_FROM_AN_EARLIER_VERSION,
    /** The waiter counts from the time of its read. */
    COUNTS_FROM_THE_QUESTION,
    /** The waiter waits for a TTL, without a margin for the rates of clocks. */
    WITHOUT_MARGIN,
    /** The holder's node is passed while the session's stays. */
    LEAVES_THE_SESSION,
    /** A repeated renewal that finds its earlier write does not write again. */
    BELIEVES_ITS_EARLIER_WRITE
  }

  SilentSessionModel(Variant variant, int ttl, int writes) {
    this.variant = variant;
    this.ttl = ttl;
    this.writes = writes;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(FREE + 1)
        .with(SENT, NONE)
        .with(SEEN, NONE)
        .with(READING, NONE)
        .with(ANSWER, NONE)
        .with(REMOVAL, NONE);
  }

  private boolean believes(PackedState state) {
    return state.get(CONFIRMED) < ttl;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return state.get(FREE) == 1 && believes(state)
        ? "the lock is free, and its holder believes"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("time passes", passed(state));
    if (state.get(GAINED) == 0 && state.get(SEEN) != NONE) {
      step.accept(
          "the waiter's clock gains", state.with(GAINED, 1).with(STOOD, state.get(STOOD) + 1));
    }
    if (state.get(FOLLOWER) != state.get(LEADER)) {
      step.accept("the follower catches up", state.with(FOLLOWER, state.get(LEADER)));
    }
    holder(state, step);
    waiter(state, step);
  }

  private PackedState passed(PackedState state) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int age : new int[] {CONFIRMED, SENT, STOOD, READING}) {
      boolean runs = state.get(age) != NONE && (age != STOOD || state.get(SEEN) != NONE);
      if (runs) {
        next.set(age, Math.min(ttl + 2, state.get(age) + 1));
      }
    }
    return next.done();
  }

  private void holder(PackedState state, BiConsumer<String, PackedState> step) {
    int leader = state.get(LEADER);
    if (state.get(SENT) == NONE) {
      if (leader < writes) {
        step.accept("the holder renews", state.with(SENT, 0).with(STATE, ON_ITS_WAY));
      }
      return;
    }
    step.accept("no answer to the renewal", state.with(SENT, NONE).with(STATE, ON_ITS_WAY));
    switch (state.get(STATE)) {
      case ON_ITS_WAY -> {
        if (leader == GONE) {
          step.accept("the holder is told of the loss", ended(state).with(CONFIRMED, ttl + 2));
        } else if (leader == state.get(KNOWN) && leader < writes) {
          step.accept("the beat is written", state.with(LEADER, leader + 1).with(STATE, EXECUTED));
        } else if (leader != state.get(KNOWN)) {
          step.accept("another version is found", state.with(STATE, OTHER_VERSION));
        }
      }
      case EXECUTED ->
          step.accept("the renewal is answered", confirmed(state, state.get(KNOWN) + 1));
      default -> {
        if (leader == GONE) {
          step.accept("the holder is told of the loss", ended(state).with(CONFIRMED, ttl + 2));
        } else if (variant == Variant.BELIEVES_ITS_EARLIER_WRITE) {
          step.accept("the earlier write counts", confirmed(state, leader));
        } else {
          step.accept("the holder writes again", state.with(KNOWN, leader).with(STATE, ON_ITS_WAY));
        }
      }
    }
  }

  private static PackedState ended(PackedState state) {
    return state.with(SENT, NONE).with(STATE, ON_ITS_WAY);
  }

  /** Also a holder that woke late goes on, if its session was not ended. */
  private static PackedState confirmed(PackedState state, int version) {
    return ended(state)
        .with(KNOWN, version)
        .with(CONFIRMED, Math.min(state.get(SENT), state.get(CONFIRMED)));
  }

  private void waiter(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(READING) == NONE) {
      step.accept("the waiter reads", state.with(READING, 0));
    } else if (state.get(ANSWER) == NONE) {
      step.accept("the read is lost", state.with(READING, NONE));
      step.accept("the follower answers", state.with(ANSWER, state.get(FOLLOWER)));
    } else {
      step.accept("the waiter is answered", seen(state));
    }
    int removal = state.get(REMOVAL);
    if (removal != NONE) {
      step.accept("the removal is lost", state.with(REMOVAL, NONE));
      step.accept("the removal arrives", removed(state.with(REMOVAL, NONE), removal));
    }
  }

  private PackedState seen(PackedState state) {
    int version = state.get(ANSWER);
    PackedState read = state.with(READING, NONE).with(ANSWER, NONE);
    if (version == GONE) {
      return read.with(FREE, 1);
    }
    int before = state.get(SEEN);
    boolean goesOn =
        version == before || (variant == Variant.COUNTS_FROM_AN_EARLIER_VERSION && before != NONE);
    int since = variant == Variant.COUNTS_FROM_THE_QUESTION ? state.get(READING) : 0;
    int stood = goesOn ? state.get(STOOD) : since;
    PackedState next = read.with(SEEN, version).with(STOOD, stood);
    return mayRemove(stood) ? next.with(REMOVAL, version) : next;
  }

  private boolean mayRemove(int stood) {
    if (variant == Variant.WITHOUT_MARGIN) {
      return stood >= ttl;
    }
    Duration silence = SilentSessions.silence(UNIT.multipliedBy(ttl));
    return UNIT.multipliedBy(stood).compareTo(silence) >= 0;
  }

  private PackedState removed(PackedState state, int version) {
    int leader = state.get(LEADER);
    if (leader == GONE || (leader != version && variant != Variant.REMOVES_ANY_VERSION)) {
      return state;
    }
    PackedState free = state.with(FREE, 1);
    return variant == Variant.LEAVES_THE_SESSION ? free : free.with(LEADER, GONE);
  }
}
