package io.mortise.admin;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A selection of locks.
 *
 * @param name exactly this lock; null for all
 * @param prefix the begin of the names; empty for all, and if there is a name
 * @param cursor {@link Page#next()} of the page before, of a query with the same prefix; null for
 *     the first
 * @param limit the most locks of one page, 1 to 1000
 * @param idle whether to show locks that are neither held, waited for nor shut
 * @param detail the detail of each lock; a store may give more. A query for one name always gets
 *     everything
 */
public record LockQuery(
    @Nullable String name,
    String prefix,
    @Nullable String cursor,
    int limit,
    boolean idle,
    Detail detail) {
  /** The detail of each lock. */
  public enum Detail {
    /** Holders and waiters, with their sessions. */
    FULL,
    /**
     * The numbers of holders and waiters, and the first holder, as far as the store knows it
     * without further reads. Omits sessions: a lock whose holder is dead counts as held. If a store
     * has a cheaper way, a page takes few round trips and a small part of the work.
     */
    SUMMARY
  }

  /**
   * Checks the limit, and that there is a name or a prefix.
   *
   * @throws IllegalArgumentException if the limit is not within 1 and 1000
   */
  public LockQuery {
    Objects.requireNonNull(prefix, "prefix");
    Objects.requireNonNull(detail, "detail");
    if (limit < 1 || limit > 1000) {
      throw new IllegalArgumentException("A page has 1 to 1000 locks, not " + limit + ".");
    }
    if (name != null && !prefix.isEmpty()) {
      throw new IllegalArgumentException("A query has a name or a prefix, not both.");
    }
  }

  /** One lock, with its holders and waiters. */
  public static LockQuery of(String name) {
    return new LockQuery(name, "", null, 1, true, Detail.FULL);
  }

  /** The first page of all locks that are held, waited for or shut. */
  public static LockQuery all() {
    return beginningWith("");
  }

  /** The first page of locks that are held, waited for or shut and begin with the prefix. */
  public static LockQuery beginningWith(String prefix) {
    return new LockQuery(null, prefix, null, 200, false, Detail.FULL);
  }

  /** A page that begins at the cursor, or at the first lock, with at most {@code size} locks. */
  public LockQuery page(@Nullable String begin, int size) {
    return new LockQuery(name, prefix, begin, size, idle, detail);
  }

  /** The same query, including locks that are free and were used lately. */
  public LockQuery withIdle() {
    return new LockQuery(name, prefix, cursor, limit, true, detail);
  }

  /** The same query, with less detail: for tools that read all locks again and again. */
  public LockQuery summarized() {
    return new LockQuery(name, prefix, cursor, limit, idle, Detail.SUMMARY);
  }

  /** Whether a store may leave out the fields that a {@link Detail#SUMMARY} lacks. */
  public boolean isSummary() {
    return detail == Detail.SUMMARY && name == null;
  }

  /** Whether a lock's name begins with the prefix. */
  public boolean matches(String lock) {
    return lock.startsWith(prefix);
  }
}
