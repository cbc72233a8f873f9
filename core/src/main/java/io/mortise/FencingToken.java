package io.mortise;

import java.util.Objects;

/**
 * An exclusive holder shows this to the resource that its lock guards, so that the resource can
 * refuse stale holders. Get it by {@link Lease#fencingToken()}; pass it to other processes by its
 * parts.
 *
 * <p>A guard lets a token pass if its {@code value} is greater than the greatest that it has seen,
 * or equal to it with the same {@code holder}: a holder may act more than once. An equal value with
 * another holder means that the store forgot a grant. Values of different locks are not comparable:
 * one guard, one lock.
 *
 * @param lock the name of the lock that was granted
 * @param value rises strictly over the exclusive holds of that lock
 * @param holder tells holders apart; the attempt as {@link LockClient#admin} shows it
 */
public record FencingToken(String lock, long value, String holder) {
  /** The longest holder, in characters. */
  public static final int MAX_HOLDER_LENGTH = 64;

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException if the name is no lock name, the value is not positive, or the
   *     holder is not 1 to 64 characters of printable ASCII
   */
  public FencingToken {
    Objects.requireNonNull(lock, "lock");
    Objects.requireNonNull(holder, "holder");
    LockName name = LockName.of(lock);
    if (value < 1) {
      throw new IllegalArgumentException(
          "Fencing token " + value + " of lock '" + name + "' is not positive.");
    }
    if (holder.isEmpty()
        || holder.length() > MAX_HOLDER_LENGTH
        || holder.chars().anyMatch(c -> c < ' ' || c > '~')) {
      throw new IllegalArgumentException(
          "The holder of fencing token "
              + value
              + " is not 1 to "
              + MAX_HOLDER_LENGTH
              + " characters of printable ASCII.");
    }
  }
}
