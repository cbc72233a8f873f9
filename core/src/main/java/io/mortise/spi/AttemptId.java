package io.mortise.spi;

import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockQuery;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Names one attempt to acquire. A request repeated under the same id gets the same answer or
 * progress, never a second grant. Releases name the attempt, so a release cannot end the hold of
 * another.
 *
 * @param session the session of the attempt, which ends with it
 * @param number never used again within the session; 1 to 2^53
 */
public record AttemptId(SessionId session, long number) {
  /** The length of {@link #encoded()}. */
  public static final int LENGTH = SessionId.LENGTH + 10;

  /** Bit 52 of the number; the count of attempts never reaches it. */
  private static final long STICKY = 1L << 52;

  /**
   * Checks the number.
   *
   * @throws IllegalArgumentException if the number is not within 1 and 2^53
   */
  public AttemptId {
    if (number < 1 || number > 1L << 53) {
      throw new IllegalArgumentException("Attempt number " + number + " is not within 1 and 2^53.");
    }
  }

  /**
   * Whether the hold may stand idle, and is given back as soon as another attempt meets it. The
   * mark is part of the id, so a contender sees it in the holder's id. Needs {@link
   * Capability#CALL_BACK}.
   */
  public boolean isSticky() {
    return (number & STICKY) != 0;
  }

  /** The attempt number with the mark of {@link #isSticky()}. */
  public static long stickyNumber(long number) {
    return number | STICKY;
  }

  /**
   * 22 characters of {@code A-Za-z0-9-_}: the session's 12, then the number as 10 digits of base
   * 64.
   */
  public String encoded() {
    return session.value() + Base64Digits.encode(number, 10);
  }

  /**
   * A holder or waiter with this attempt, in the form for people; see {@link LockParticipant}.
   *
   * @param sessionLeft null in a summary, which does not look at sessions
   */
  public LockParticipant participant(
      @Nullable ClientLabel client,
      String label,
      Share share,
      long token,
      Duration since,
      @Nullable Duration sessionLeft,
      @Nullable Duration atMostLeft,
      Duration sessionTtl,
      @Nullable Duration renewedAgo) {
    return new LockParticipant(
        encoded(),
        client == null ? null : client.info(),
        label,
        share,
        token,
        since,
        sessionLeft,
        atMostLeft,
        isSticky(),
        null,
        sessionTtl,
        renewedAgo);
  }

  /** A holder with this attempt in a {@linkplain LockQuery.Detail#SUMMARY summary}. */
  public LockParticipant holder(String label, Share share, Duration since) {
    return participant(null, label, share, 0, since, null, null, Duration.ZERO, null);
  }

  /**
   * The reverse of {@link #encoded()} and of {@link #toString()}: for text entered by people.
   *
   * @throws IllegalArgumentException if the text is neither
   */
  public static AttemptId of(String text) {
    if (text.matches("[A-Za-z0-9_-]{12}\\.\\d{1,16}")) {
      return new AttemptId(
          new SessionId(text.substring(0, SessionId.LENGTH)),
          Long.parseLong(text.substring(SessionId.LENGTH + 1)));
    }
    if (!isEncoded(text)) {
      throw new IllegalArgumentException(
          "Not an attempt id: '"
              + Base64Digits.shown(text)
              + "'. Expected its session, a dot and its number, or 22 characters of A-Za-z0-9-_.");
    }
    return parse(text);
  }

  private static boolean isEncoded(String text) {
    return text.length() == LENGTH && Base64Digits.isDigits(text);
  }

  /**
   * The reverse of {@link #encoded()}.
   *
   * @throws IllegalArgumentException if the text is not an encoded attempt id
   */
  public static AttemptId parse(String encoded) {
    if (!isEncoded(encoded)) {
      throw new IllegalArgumentException(
          "Not an attempt id: '"
              + Base64Digits.shown(encoded)
              + "'. Expected 22 characters of A-Za-z0-9-_.");
    }
    return new AttemptId(
        new SessionId(encoded.substring(0, SessionId.LENGTH)),
        Base64Digits.decode(encoded.substring(SessionId.LENGTH)));
  }

  // Written out, like the one of {@link SessionId}: a generated one is slow until it is compiled,
  // and a hand-off between processes is often among the first actions of a process.

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof AttemptId that && number == that.number && session.equals(that.session);
  }

  @Override
  public int hashCode() {
    return 31 * session.hashCode() + Long.hashCode(number);
  }

  /** The form that messages, views and logs show: the session, a dot and the number. */
  @Override
  public String toString() {
    return session.value() + "." + number;
  }
}
