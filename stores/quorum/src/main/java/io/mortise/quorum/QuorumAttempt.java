package io.mortise.quorum;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/** What a session knows of one attempt that was not abandoned. Guarded by its stripe. */
final class QuorumAttempt {
  final LockName name;
  final AttemptId id;
  final Mode mode;
  final HoldTerms terms;

  /** How many times it was given up in the members and made anew. */
  int ballot;

  /** Where it stands, or may stand; null where it was not asked for. */
  final @Nullable MemberHold[] memberHolds;

  /** Where a request got no answer, and may be executed yet. */
  final boolean[] doubtful;

  /** Which members told that it has gone there. */
  final boolean[] gone;

  /** The round of requests that is under way. */
  @Nullable QuorumAcquire round;

  /** What vouches for it since it was granted; null before. */
  @Nullable VoteSet votes;

  TokenBlock tokens = new TokenBlock(0, 1);
  boolean wanted;
  boolean wantedTold;
  boolean goneTold;

  /** Its end was asked for. */
  boolean ended;

  /** An attempt in a member. */
  record MemberHold(MemberSession session, AttemptId id) {}

  QuorumAttempt(Request.Acquire request, int members) {
    this.name = request.name();
    this.id = request.attempt();
    this.mode = request.mode();
    this.terms = request.terms();
    this.memberHolds = new @Nullable MemberHold[members];
    this.doubtful = new boolean[members];
    this.gone = new boolean[members];
  }

  /** Whether some member knows it by a name that cannot be told from what the engine calls it. */
  boolean isRenamed() {
    for (MemberHold memberHold : memberHolds) {
      if (memberHold != null && !memberHold.id().equals(id)) {
        return true;
      }
    }
    return ballot > 0;
  }

  boolean isGranted() {
    return votes != null;
  }
}
