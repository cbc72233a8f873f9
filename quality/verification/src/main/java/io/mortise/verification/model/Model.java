package io.mortise.verification.model;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A small state machine to be explored exhaustively.
 *
 * @param <S> its states: immutable values, compared by {@code equals}. A state with many parts had
 *     best keep them in one array, see {@link PackedState}
 */
public interface Model<S> {
  /** The initial state of every run. */
  S initial();

  /**
   * Reports all possible steps, each with a label and the resulting state. Every possible step must
   * be reported: the checker explores them all.
   */
  void next(S state, BiConsumer<String, S> step);

  /** Returns the fault of a state; null if there is none. */
  @Nullable String broken(S state);
}
