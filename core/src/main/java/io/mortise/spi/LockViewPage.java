package io.mortise.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the locks of a store, each a snapshot of its own.
 *
 * @param next where the next page begins; null if this was the last
 */
public record LockViewPage(List<LockView> locks, @Nullable String next) {
  /** Copies the list. */
  public LockViewPage {
    locks = List.copyOf(locks);
  }
}
