package io.mortise.spi;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Names a session: one process's liveness bond to a store. 72 random bits as 12 characters of
 * {@code A-Za-z0-9-_}; never used again.
 */
public record SessionId(String value) implements Comparable<SessionId> {
  /** The length of {@link #value()}. */
  public static final int LENGTH = 12;

  /**
   * Checks an encoded id.
   *
   * @throws IllegalArgumentException if it is not 12 characters of {@code A-Za-z0-9-_}
   */
  public SessionId {
    if (value.length() != LENGTH || !Base64Digits.isDigits(value)) {
      throw new IllegalArgumentException(
          "Not a session id: '"
              + Base64Digits.shown(value)
              + "'. Expected 12 characters of A-Za-z0-9-_.");
    }
  }

  /**
   * A new id. The generator must be unpredictable enough that no two processes ever draw the same
   * 72 bits.
   */
  public static SessionId random(RandomGenerator random) {
    return new SessionId(
        Base64Digits.encode(random.nextLong() >>> 28, 6)
            + Base64Digits.encode(random.nextLong() >>> 28, 6));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SessionId that && value.equals(that.value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  @Override
  public int compareTo(SessionId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
