package io.mortise.internal.session;

import io.mortise.internal.session.LiveSession.LiveSessionPhase;

/** How what a store remembers with compares to what was told before. */
enum IncarnationComparison {
  SAME,
  OTHER,
  /** The question was sent before that which the latest answer is to. */
  OLDER;

  /**
   * Compares, and notes the newer one. Called under the lock of the {@link SessionRenewer}.
   *
   * @param sentAt when the renewal was sent that told of this incarnation
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
