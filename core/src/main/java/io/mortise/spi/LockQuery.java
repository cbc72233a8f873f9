package io.mortise.spi;

import io.mortise.LockName;
import org.jspecify.annotations.Nullable;

/**
 * Which locks to look at.
 *
 * @param name exactly this one; null for all
 * @param cursor {@link LockViewPage#next()} of the page before; null for the first
 * @param limit the most locks of one page, 1 to 1000
 * @param idle whether to show locks that are neither held, waited for nor closed
 */
public record LockQuery(@Nullable LockName name, @Nullable String cursor, int limit, boolean idle) {
  /** Checks the limit. */
  public LockQuery {
    if (limit < 1 || limit > 1000) {
      throw new IllegalArgumentException("A page has 1 to 1000 locks, not " + limit + ".");
    }
  }

  /** One lock, with its holders and waiters. */
  public static LockQuery of(LockName name) {
    return new LockQuery(name, null, 1, true);
  }

  /** The first page of all locks that are held, waited for or closed. */
  public static LockQuery all() {
    return new LockQuery(null, null, 200, false);
  }

  /** The page that begins at the cursor. */
  public LockQuery from(String next) {
    return new LockQuery(name, next, limit, idle);
  }
}
