package io.mortise.quorum;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/** A session's state of one attempt that was not abandoned. Guarded by its stripe. */
final class QuorumAttempt {
  final LockName name;
  final AttemptId id;
  final Mode mode;
  final HoldTerms terms;

  /** How many times it was given up in the members and retried. */
  int ballot;

  /** Its hold, or possible hold, in each member; null if it was not requested there. */
  final @Nullable MemberHold[] memberHolds;

  /** Members where a request got no answer, and may still be executed. */
  final boolean[] doubtful;

  /** Members that have reported its end. */
  final boolean[] gone;

  /** The round in flight. */
  @Nullable QuorumAcquire round;

  /** Its supporting votes since it was granted; null before. */
  @Nullable VoteSet votes;

  TokenBlock tokens = new TokenBlock(0, 1);
  boolean wanted;
  boolean wantedTold;
  boolean goneTold;

  /** Its end was requested. */
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

  /** Whether some member knows it by an id that does not reveal the engine's. */
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
