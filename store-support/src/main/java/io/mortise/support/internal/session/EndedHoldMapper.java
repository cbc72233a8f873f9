package io.mortise.support.internal.session;

import io.mortise.admin.EndedHold;
import io.mortise.admin.EndedHold.EndCause;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import org.jspecify.annotations.Nullable;

/** Maps a store's record of an attempt's end to the {@link EndedHold} for people. */
public final class EndedHoldMapper {
  private EndedHoldMapper() {}

  /**
   * The end of an attempt's hold; null if the attempt was not a hold, or if the store does not know
   * the reason.
   *
   * @param was the state of the attempt before its end
   */
  public static @Nullable EndedHold endedHold(AttemptId attempt, AttemptState was, EndReason how) {
    if (was != AttemptState.HELD) {
      return null;
    }
    return switch (how) {
      case RELEASED -> new EndedHold(attempt.encoded(), EndCause.RELEASED);
      case EXPIRED -> new EndedHold(attempt.encoded(), EndCause.AT_MOST);
      case EVICTED -> new EndedHold(attempt.encoded(), EndCause.EVICTED);
      case TAKEN -> new EndedHold(attempt.encoded(), EndCause.SESSION_EXPIRED);
      case UNKNOWN -> null;
    };
  }
}
