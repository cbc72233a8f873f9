package io.mortise.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the locks or sessions of a store, each a snapshot of its own.
 *
 * @param next where the next page begins; null if this was the last
 */
public record Page<T>(List<T> items, @Nullable String next) {
  /** Copies the list. */
  public Page {
    items = List.copyOf(items);
  }
}
