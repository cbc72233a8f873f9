package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;

/**
 * The ids of a session and its attempts in the members. At first they are the same everywhere. A
 * member that lost the session gets it under another id, since an ended id never comes back; a
 * retried attempt gets another number there. Both ids reveal their origin: the first characters of
 * the session, and the lower digits of the number, stay.
 */
final class MemberIds {
  /** 54 random bits: enough to distinguish sessions that inspect one lock at one time. */
  private static final int KEPT = 9;

  private static final String DIGITS =
      "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

  private static final int NUMBER_BITS = 40;
  private static final long NUMBER = (1L << NUMBER_BITS) - 1;

  /** How many retries of one attempt are distinguished, below the mark of a sticky attempt. */
  static final int BALLOTS = 1 << 12;

  private MemberIds() {}

  /** The id of a session after that many losses; itself at first. */
  static SessionId generation(SessionId session, int lost) {
    String id = session.value();
    int last = 0;
    for (int i = KEPT; i < id.length(); i++) {
      last = last << 6 | DIGITS.indexOf(id.charAt(i));
    }
    last += lost;
    StringBuilder text = new StringBuilder(id.substring(0, KEPT));
    for (int shift = 12; shift >= 0; shift -= 6) {
      text.append(DIGITS.charAt(last >>> shift & 63));
    }
    return new SessionId(text.toString());
  }

  static boolean sameSession(SessionId one, SessionId other) {
    return one.value().regionMatches(0, other.value(), 0, KEPT);
  }

  static AttemptId attempt(SessionId inMember, long number, int ballot) {
    return new AttemptId(inMember, (number & NUMBER) | (long) ballot << NUMBER_BITS);
  }

  /** The attempt's number at its owner. */
  static long number(AttemptId inMember) {
    return inMember.number() & NUMBER;
  }

  static boolean sameAttempt(AttemptId one, AttemptId other) {
    return number(one) == number(other) && sameSession(one.session(), other.session());
  }
}
