package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A stream of readers, and a writer elsewhere that waits for all of them
 * (invariants.md#readers-do-not-join). As built, each reader asks the store, which keeps the order
 * of the queue. Alternatively the readers of a process share one grant, for a short window after
 * the store last reported no waiter. Time passes in ticks, and the window is a number of ticks;
 * answers may be late, and pushes to the process are always lost.
 *
 * <p>Violation: a reader is let in although the writer has waited for longer than the window.
 */
final class WriterStarvationModel implements Model<PackedState> {
  private static final int NONE = -1;

  /** Ticks of the writer's wait; none if it does not wait. */
  private static final int WAITED = 0;

  private static final int READERS = 1;

  /** Ticks since the last answered question; and whether its answer reported a waiter. */
  private static final int VERIFIED = 2;

  private static final int WANTED = 3;

  /** The question in flight: ticks since it was sent, and the store's answer. */
  private static final int SENT = 4;

  private static final int ANSWER = 5;
  private static final int LATE = 6;

  private static final int UNANSWERED = 0;
  private static final int SAYS_FREE = 1;
  private static final int SAYS_WANTED = 2;

  private final Variant variant;
  private final int window;
  private final int most;

  enum Variant {
    /** As it is built: each reader is an attempt of its own. */
    BUILT,
    /** The store lets a reader in beside other readers, despite a waiting writer. */
    PASSES_THE_QUEUE,
    /** Readers of a process share a grant, by the rule. */
    JOINS,
    /** They share it until a push reports a waiter. */
    JOINS_UNTIL_TOLD,
    /** The window begins with the answer. */
    COUNTS_FROM_THE_ANSWER,
    /** Any answer opens the window. */
    JOINS_WHEN_WANTED
  }

  WriterStarvationModel(Variant variant, int window, int readers) {
    this.variant = variant;
    this.window = window;
    this.most = readers;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(LATE + 1).with(WAITED, NONE).with(VERIFIED, NONE).with(SENT, NONE);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return state.get(LATE) == 0 ? null : "a reader got in before a writer that waits for long";
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("a tick passes", tick(state));
    int readers = state.get(READERS);
    if (state.get(WAITED) == NONE) {
      step.accept("the writer comes", state.with(WAITED, 0));
    } else if (readers == 0) {
      step.accept("the writer writes, and goes", state.with(WAITED, NONE));
    }
    if (readers > 0) {
      step.accept("a reader goes", gone(state, readers - 1));
    }
    if (readers < most) {
      reader(state, step);
    }
    if (joins()) {
      question(state, step);
    }
  }

  private boolean joins() {
    return variant != Variant.BUILT && variant != Variant.PASSES_THE_QUEUE;
  }

  private PackedState tick(PackedState state) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int age : new int[] {WAITED, VERIFIED, SENT}) {
      if (state.get(age) != NONE) {
        next.set(age, Math.min(window + 1, state.get(age) + 1));
      }
    }
    return next.done();
  }

  /** The last reader of a process releases the grant. */
  private static PackedState gone(PackedState state, int left) {
    PackedState.PackedStateBuilder next = state.draft().set(READERS, left);
    if (left == 0) {
      next.set(VERIFIED, NONE).set(WANTED, 0).set(SENT, NONE).set(ANSWER, UNANSWERED);
    }
    return next.done();
  }

  private void reader(PackedState state, BiConsumer<String, PackedState> step) {
    boolean shares = joins() && state.get(READERS) > 0;
    boolean nobodyBefore = state.get(WAITED) == NONE;
    if (!shares) {
      if (nobodyBefore || (variant == Variant.PASSES_THE_QUEUE && state.get(READERS) > 0)) {
        step.accept("the store lets a reader in", in(state.with(VERIFIED, 0)));
      }
      return;
    }
    int verified = state.get(VERIFIED);
    boolean open =
        variant == Variant.JOINS_UNTIL_TOLD
            || (verified != NONE && verified <= window && state.get(WANTED) == 0);
    if (open) {
      step.accept("a reader joins", in(state));
    }
  }

  private PackedState in(PackedState state) {
    PackedState next = state.with(READERS, state.get(READERS) + 1);
    return state.get(WAITED) > window ? next.with(LATE, 1) : next;
  }

  /** The process asks for waiters; the store looks; the answer arrives. */
  private void question(PackedState state, BiConsumer<String, PackedState> step) {
    int sent = state.get(SENT);
    if (sent == NONE) {
      if (state.get(READERS) > 0) {
        step.accept("the process asks", state.with(SENT, 0).with(ANSWER, UNANSWERED));
      }
    } else if (state.get(ANSWER) == UNANSWERED) {
      int says = state.get(WAITED) == NONE ? SAYS_FREE : SAYS_WANTED;
      step.accept("the store looks", state.with(ANSWER, says));
    } else {
      boolean wanted = state.get(ANSWER) == SAYS_WANTED && variant != Variant.JOINS_WHEN_WANTED;
      int since = variant == Variant.COUNTS_FROM_THE_ANSWER ? 0 : sent;
      PackedState.PackedStateBuilder next = state.draft().set(SENT, NONE).set(ANSWER, UNANSWERED);
      step.accept(
          "the answer arrives", next.set(VERIFIED, since).set(WANTED, wanted ? 1 : 0).done());
    }
  }
}
