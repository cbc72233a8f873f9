package io.mortise.simulation.toy;

import io.mortise.simulation.toy.ToyDocuments.Change;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * A lock. Its steps are functions from the document to the next one and an answer, so that they can
 * run again if the compare-and-set fails. Times are microseconds of the store's clock.
 *
 * @param lastToken the greatest token that was ever given
 * @param lastEnd what a repeated request of the attempt that ended last is answered
 * @param changed when it was last granted or freed
 */
record ToyLockDocument(
    long lastToken, @Nullable Hold hold, Reply.@Nullable Ended lastEnd, long changed) {
  static final ToyLockDocument ABSENT = new ToyLockDocument(0, null, null, 0);

  /** How far tokens may lead the clock, which covers for a document that was removed. */
  private static final long MAX_LEAD_MICROS = 1_000_000;

  /**
   * A grant.
   *
   * @param wanted whether a note for the holder's session was left
   */
  record Hold(AttemptId attempt, String label, long token, int tokens, boolean wanted, long since) {
    Reply.Granted reply() {
      return new Reply.Granted(attempt, token, tokens, wanted, null);
    }
  }

  /**
   * The hold that keeps the attempt out; null if there is none, or it is its own or proven dead.
   */
  @Nullable Hold inTheWayOf(Request.Acquire acquire) {
    return isHeldBy(acquire.attempt()) || isHeldIn(acquire.provenDead()) ? null : hold;
  }

  /** Grants, or answers again. The caller has seen that nobody is in the way. */
  Change<ToyLockDocument, Reply> acquire(Request.Acquire acquire, long now) {
    AttemptId attempt = acquire.attempt();
    if (isHeldBy(attempt)) {
      return new Change<>(this, hold.reply());
    }
    ToyLockDocument free = hold == null ? this : ended(EndReason.TAKEN, now);
    if (free.isLastEnd(attempt)) {
      return new Change<>(free, refused(attempt, RefusalReason.ENDED, "has ended"));
    }
    Hold bare = new Hold(attempt, acquire.terms().label(), 0, 0, false, now);
    return free.minted(bare, acquire.tokens(), acquire.tokenFloor(), now);
  }

  Change<ToyLockDocument, Reply> adjust(Request.Adjust adjust, long now) {
    AttemptId attempt = adjust.attempt();
    if (!isHeldBy(attempt)) {
      return new Change<>(this, refused(attempt, RefusalReason.NOT_HELD, "does not hold"));
    }
    return adjust.tokens() == 0
        ? new Change<>(this, hold.reply())
        : minted(hold, adjust.tokens(), adjust.tokenFloor(), now);
  }

  Change<ToyLockDocument, Reply> abandon(AttemptId attempt, long now) {
    if (isHeldBy(attempt)) {
      ToyLockDocument free = ended(EndReason.RELEASED, now);
      return new Change<>(free, free.lastEnd);
    }
    return new Change<>(
        this,
        isLastEnd(attempt)
            ? lastEnd
            : new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false));
  }

  /** Free. */
  ToyLockDocument ended(EndReason how, long now) {
    Reply.Ended end = new Reply.Ended(hold.attempt(), AttemptState.HELD, how, false);
    return new ToyLockDocument(lastToken, null, end, now);
  }

  ToyLockDocument wanted() {
    Hold next = new Hold(hold.attempt, hold.label, hold.token, hold.tokens, true, hold.since);
    return new ToyLockDocument(lastToken, next, lastEnd, changed);
  }

  /** Held, with a fresh block of tokens. */
  private Change<ToyLockDocument, Reply> minted(Hold by, int tokens, long floor, long now) {
    long first = Math.max(Math.max(lastToken + 1, now), floor);
    int count = (int) Math.min(tokens, Math.max(1, now + MAX_LEAD_MICROS - first));
    Hold next = new Hold(by.attempt, by.label, first, count, by.wanted, by.since);
    return new Change<>(new ToyLockDocument(first + count - 1, next, lastEnd, now), next.reply());
  }

  private static Reply.Refused refused(AttemptId attempt, RefusalReason why, String what) {
    return new Reply.Refused(attempt, why, "Attempt " + attempt + " " + what + ".");
  }

  private boolean isHeldBy(AttemptId attempt) {
    return hold != null && hold.attempt.equals(attempt);
  }

  private boolean isHeldIn(@Nullable SessionId session) {
    return hold != null && hold.attempt.session().equals(session);
  }

  private boolean isLastEnd(AttemptId attempt) {
    return lastEnd != null && lastEnd.attempt().equals(attempt);
  }
}
