package io.mortise.verification.model;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A small machine whose every run is to be looked at.
 *
 * @param <S> its states: immutable values, compared by {@code equals}. A state with many parts had
 *     best keep them in one array, see {@link PackedState}
 */
public interface Model<S> {
  /** Where every run begins. */
  S initial();

  /**
   * Gives all that can happen next: what to call it, and the state afterwards. What may be, must be
   * given: the checker goes every way.
   */
  void next(S state, BiConsumer<String, S> step);

  /** What is wrong with a state; null if nothing is. */
  @Nullable String broken(S state);
}
