package io.mortise.internal.session;

import io.mortise.internal.session.LiveSession.LiveSessionPhase;

/** The result of comparing a server's incarnation with the one known before. */
enum IncarnationComparison {
  SAME,
  OTHER,
  /** The renewal was sent before the one with the latest answer. */
  OLDER;

  /**
   * Compares, and records the newer one. Called under the lock of the {@link SessionRenewer}.
   *
   * @param sentAt the sending time of the renewal that reported this incarnation
   */
  static IncarnationComparison of(LiveSession session, long sentAt, String incarnation, long now) {
    if (incarnation.isEmpty() || session.phase == LiveSessionPhase.ENDED) {
      return SAME;
    }
    String before = session.incarnation;
    if (before.equals(incarnation)) {
      return SAME;
    } else if (!before.isEmpty() && sentAt - session.memoryAt < 0) {
      return OLDER;
    }
    session.incarnation = incarnation;
    session.memoryAt = sentAt;
    if (before.isEmpty()) {
      return SAME;
    }
    session.doubt(now);
    return OTHER;
  }
}
