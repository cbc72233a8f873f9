package io.mortise.simulation.model;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Readers that come one after the other, and a writer elsewhere that waits for all of them
 * (invariants.md#readers-do-not-join). As it is built each reader asks the store, which lets nobody
 * pass who came first. A process may also let its readers share one grant, without asking for each;
 * then its rule is: only for a short window after the store was last asked, and had nobody waiting.
 * Time passes in ticks; the window is some of them; answers may be late, and pushes to the process
 * are always lost.
 *
 * <p>Broken is: a reader gets in although the writer has waited for longer than the window.
 */
final class WriterStarvationModel implements Model<PackedState> {
  private static final int NONE = -1;

  /** Ticks that the writer has waited; none if it does not wait. */
  private static final int WAITED = 0;

  private static final int READERS = 1;

  /** Ticks since the question that was answered last; and whether that said that it is wanted. */
  private static final int VERIFIED = 2;

  private static final int WANTED = 3;

  /** A question under way: ticks since it was sent, and what the store has answered. */
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
    /** The store lets a reader in beside other readers, whoever waits. */
    PASSES_THE_QUEUE,
    /** Readers of a process share a grant, by the rule. */
    JOINS,
    /** They share it for as long as no push said that it is wanted. */
    JOINS_UNTIL_TOLD,
    /** The window begins with the answer. */
    COUNTS_FROM_THE_ANSWER,
    /** The answer opens the window, whatever it says. */
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

  /** With its last reader a process gives the grant back. */
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

  /** The process asks whether somebody waits; the store looks; the answer arrives. */
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
