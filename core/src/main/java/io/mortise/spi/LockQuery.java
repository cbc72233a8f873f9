package io.mortise.spi;

import io.mortise.LockName;
import org.jspecify.annotations.Nullable;

/**
 * Which locks to look at.
 *
 * @param name exactly this one; null for all
 * @param prefix what the names begin with; empty for all, and if there is a name
 * @param cursor {@link io.mortise.admin.Page#next()} of the page before, of a query with the same
 *     prefix; null for the first
 * @param limit the most locks of one page, 1 to 1000
 * @param idle whether to show locks that are neither held, waited for nor shut
 */
public record LockQuery(
    @Nullable LockName name, String prefix, @Nullable String cursor, int limit, boolean idle) {
  /**
   * Checks the limit and the prefix.
   *
   * @throws IllegalArgumentException if the limit is not within 1 and 1000, or no name of a lock
   *     can begin with the prefix
   */
  public LockQuery {
    if (limit < 1 || limit > 1000) {
      throw new IllegalArgumentException("A page has 1 to 1000 locks, not " + limit + ".");
    }
    if (!prefix.isEmpty()) {
      var unused = LockName.of(prefix);
      if (name != null) {
        throw new IllegalArgumentException("A query has a name or a prefix, not both.");
      }
    }
  }

  /** One lock, with its holders and waiters. */
  public static LockQuery of(LockName name) {
    return new LockQuery(name, "", null, 1, true);
  }

  /** The first page of all locks that are held, waited for or shut. */
  public static LockQuery all() {
    return beginningWith("");
  }

  /** The first page of all locks that are held, waited for or shut and whose names begin so. */
  public static LockQuery beginningWith(String prefix) {
    return new LockQuery(null, prefix, null, 200, false);
  }

  /** A page that begins at the cursor, or at the first lock, and has at most so many locks. */
  public LockQuery page(@Nullable String begin, int size) {
    return new LockQuery(name, prefix, begin, size, idle);
  }

  /** Whether a lock's name begins with the prefix. */
  public boolean matches(LockName lock) {
    return lock.value().startsWith(prefix);
  }
}
