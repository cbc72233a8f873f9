package io.mortise.simulation.model;

import io.mortise.spi.SessionId;
import io.mortise.support.liveness.BeatMonitor;
import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Strict expiry: a holder renews by raising its beat; an observer ends its session after seeing the
 * beat unchanged for a whole TTL on its own clock ({@link BeatMonitor} itself). The store's clock,
 * which jumps, is not used. Requests and answers take any time, and may be lost.
 *
 * <p>Violation: the session was ended, but its owner still believes in its holds.
 */
final class StrictExpiryModel implements Model<PackedState> {
  private static final int NONE = -1;
  private static final Duration TICK = Duration.ofMillis(1);
  private static final SessionId OWNER = new SessionId("the-owner---");

  // The owner: ticks since the last answered renewal was sent, and since the one in flight was
  // sent; whether that one was executed.
  private static final int CONFIRMED = 0;
  private static final int SENT = 1;
  private static final int EXECUTED = 2;

  /** The session in the store; none if it was ended. */
  private static final int BEAT = 3;

  // The judge: the beat seen last and for how many ticks; the look in flight, since when, and the
  // store's answer; the order to end in flight, with its beat.
  private static final int SEEN = 4;
  private static final int STOOD = 5;
  private static final int LOOKING = 6;
  private static final int FOUND = 7;
  private static final int ORDER = 8;

  /** Whether the next renewal repeats the beat of one executed but not answered. */
  private static final int AGAIN = 9;

  private final Variant variant;
  private final int ttl;
  private final int beats;

  enum Variant {
    /** As it is built. */
    BUILT,
    /** The judge counts from the time of its question. */
    COUNTS_FROM_THE_QUESTION,
    /** The judge counts on although the beat has changed. */
    COUNTS_ON,
    /** The session is ended without comparing its beat. */
    ENDS_WITHOUT_COMPARING,
    /** The owner believes for a TTL from the answer. */
    BELIEVES_FROM_THE_ANSWER,
    /** A repeated renewal leaves the beat unchanged. */
    SENDS_THE_SAME_BEAT_AGAIN,
    /** The store's clock decides, and it jumps. */
    BY_THE_STORES_CLOCK
  }

  StrictExpiryModel(Variant variant, int ttl, int beats) {
    this.variant = variant;
    this.ttl = ttl;
    this.beats = beats;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(AGAIN + 1)
        .with(SENT, NONE)
        .with(SEEN, NONE)
        .with(LOOKING, NONE)
        .with(FOUND, NONE)
        .with(ORDER, NONE);
  }

  private boolean believes(PackedState state) {
    return state.get(CONFIRMED) < ttl;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return state.get(BEAT) == NONE && believes(state)
        ? "the session was ended, and its owner believes in it"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("a tick passes", tick(state));
    owner(state, step);
    judge(state, step);
    if (variant == Variant.BY_THE_STORES_CLOCK) {
      step.accept("the store's clock jumps", state.with(BEAT, NONE));
    }
  }

  private PackedState tick(PackedState state) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int age : new int[] {CONFIRMED, SENT, STOOD, LOOKING}) {
      boolean runs = state.get(age) != NONE && (age != STOOD || state.get(SEEN) != NONE);
      if (runs) {
        next.set(age, Math.min(ttl + 2, state.get(age) + 1));
      }
    }
    return next.done();
  }

  private void owner(PackedState state, BiConsumer<String, PackedState> step) {
    int sent = state.get(SENT);
    if (sent == NONE) {
      if (believes(state) && state.get(BEAT) < beats) {
        step.accept("the owner renews", state.with(SENT, 0).with(EXECUTED, 0));
      }
      return;
    }
    boolean again =
        variant == Variant.SENDS_THE_SAME_BEAT_AGAIN
            && (state.get(AGAIN) == 1 || state.get(EXECUTED) == 1);
    step.accept(
        "no answer to the renewal",
        state.with(SENT, NONE).with(EXECUTED, 0).with(AGAIN, again ? 1 : 0));
    if (state.get(EXECUTED) == 0) {
      if (state.get(BEAT) != NONE) {
        int beat = state.get(BEAT) + 1 - state.get(AGAIN);
        step.accept("the beat is " + beat, state.with(BEAT, beat).with(EXECUTED, 1));
      }
    } else {
      int from = variant == Variant.BELIEVES_FROM_THE_ANSWER ? 0 : sent;
      // Once lost at its deadline, a session stays lost.
      PackedState next = state.with(SENT, NONE).with(EXECUTED, 0).with(AGAIN, 0);
      step.accept(
          "the renewal is answered",
          believes(state) ? next.with(CONFIRMED, Math.min(from, state.get(CONFIRMED))) : next);
    }
  }

  private void judge(PackedState state, BiConsumer<String, PackedState> step) {
    int beat = state.get(BEAT);
    if (state.get(LOOKING) == NONE) {
      step.accept("the judge looks", state.with(LOOKING, 0).with(FOUND, NONE));
    } else if (state.get(FOUND) == NONE) {
      step.accept("the look is lost", state.with(LOOKING, NONE));
      if (beat != NONE) {
        step.accept("the store shows beat " + beat, state.with(FOUND, beat));
      }
    } else {
      step.accept("the judge sees beat " + state.get(FOUND), seen(state));
    }
    int order = state.get(ORDER);
    if (order != NONE) {
      boolean ends = beat == order || variant == Variant.ENDS_WITHOUT_COMPARING;
      PackedState next = state.with(ORDER, NONE);
      step.accept("the order arrives", ends && beat != NONE ? next.with(BEAT, NONE) : next);
    }
  }

  private PackedState seen(PackedState state) {
    int beat = state.get(FOUND);
    int before = state.get(SEEN);
    boolean keeps = before == beat || (variant == Variant.COUNTS_ON && before != NONE);
    int since = variant == Variant.COUNTS_FROM_THE_QUESTION ? state.get(LOOKING) : 0;
    int stood = keeps ? state.get(STOOD) : since;
    PackedState next =
        state.with(LOOKING, NONE).with(FOUND, NONE).with(SEEN, beat).with(STOOD, stood);
    return mayEnd(beat, stood) ? next.with(ORDER, beat) : next;
  }

  /** Whether the rule lets a judge end a session whose beat it has seen unchanged for so long. */
  private boolean mayEnd(int beat, int stood) {
    long[] now = {0};
    BeatMonitor<SessionId> watch = new BeatMonitor<>(() -> now[0]);
    watch.left(OWNER, beat, TICK.multipliedBy(ttl));
    now[0] = TICK.toNanos() * stood;
    return watch.left(OWNER, beat, TICK.multipliedBy(ttl)).isZero();
  }
}
