package io.mortise.guarantee;

import io.mortise.annotation.Beta;
import java.util.List;

/**
 * A cell of the table: what becomes of the exclusive locks of a store under a fault.
 *
 * @param mode of the store
 * @param fault that strikes
 * @param answer in the words of the table
 * @param because why, and what the holder learns when
 * @param tests that show it, as {@code module:Class#method}, or {@code module:Class>Suite#method}
 *     for a method of a suite that the class runs; empty if none does yet
 */
@Beta
public record Guarantee(
    StoreMode mode, Fault fault, GuaranteeLevel answer, String because, List<String> tests) {
  /** Copies the list. */
  public Guarantee {
    tests = List.copyOf(tests);
  }
}
