package io.mortise.guarantee;

import io.mortise.annotation.Beta;
import java.util.List;

/**
 * A cell of the table: the effect of a fault on the exclusive locks of a store.
 *
 * @param mode the store's mode
 * @param fault the fault
 * @param answer the level of the guarantee
 * @param because the reason, and the time and kind of the holder's notification
 * @param tests the tests that show it, as {@code module:Class#method}, or {@code
 *     module:Class>Suite#method} for a method of a suite that the class runs; empty if none does
 *     yet
 */
@Beta
public record Guarantee(
    StoreMode mode, Fault fault, GuaranteeLevel answer, String because, List<String> tests) {
  /** Copies the list. */
  public Guarantee {
    tests = List.copyOf(tests);
  }
}
