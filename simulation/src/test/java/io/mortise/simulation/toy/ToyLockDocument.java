package io.mortise.simulation.toy;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import org.jspecify.annotations.Nullable;

/**
 * A lock. Each step is a function from the document to the next one, so that it can run again if
 * the compare-and-set fails. Times are microseconds of the store's clock.
 *
 * @param lastToken the greatest token that was ever given
 * @param lastEnd how the attempt ended that held last
 * @param changed when the lock was last granted or freed
 */
record ToyLockDocument(
    long lastToken, @Nullable Hold hold, Reply.@Nullable Ended lastEnd, long changed) {
  static final ToyLockDocument ABSENT = new ToyLockDocument(0, null, null, 0);

  /** How far tokens may lead the clock, which covers for a document that was removed. */
  private static final long MAX_LEAD_MICROS = 1_000_000;

  /** A hold, and what its attempt is answered whenever it asks. */
  record Hold(Reply.Granted reply, String label, long since) {
    AttemptId attempt() {
      return reply.attempt();
    }
  }

  boolean isHeldBy(AttemptId attempt) {
    return hold != null && hold.attempt().equals(attempt);
  }

  boolean isLastEnd(AttemptId attempt) {
    return lastEnd != null && lastEnd.attempt().equals(attempt);
  }

  /** The hold that the attempt is the first to meet; null if there is none. */
  @Nullable Hold untoldHold(AttemptId attempt) {
    boolean met = hold != null && !isHeldBy(attempt) && !isLastEnd(attempt);
    return met && !hold.reply.wanted() ? hold : null;
  }

  /**
   * Grants, or marks the hold in the way as wanted.
   *
   * @param told the hold whose session was left a note; null if none was
   */
  ToyLockDocument acquire(Request.Acquire acquire, @Nullable Hold told, long now) {
    AttemptId attempt = acquire.attempt();
    if (isHeldBy(attempt) || isLastEnd(attempt)) {
      return this;
    }
    if (hold == null) {
      Reply.Granted bare = new Reply.Granted(attempt, 0, 1, false, null);
      return withTokens(
          new Hold(bare, acquire.terms().label(), now),
          acquire.tokens(),
          acquire.tokenFloor(),
          now);
    }
    if (hold.attempt().session().equals(acquire.provenDead())) {
      return ended(EndReason.TAKEN, now).acquire(acquire, null, now);
    }
    if (!hold.equals(told)) {
      return this;
    }
    Reply.Granted wanted =
        new Reply.Granted(hold.attempt(), hold.reply.token(), hold.reply.tokens(), true, null);
    return new ToyLockDocument(
        lastToken, new Hold(wanted, hold.label, hold.since), lastEnd, changed);
  }

  ToyLockDocument adjust(Request.Adjust adjust, long now) {
    return isHeldBy(adjust.attempt()) && adjust.tokens() > 0
        ? withTokens(hold, adjust.tokens(), adjust.tokenFloor(), now)
        : this;
  }

  /** Releases; what does not hold stays as it is. */
  ToyLockDocument abandon(AttemptId attempt, long now) {
    return isHeldBy(attempt) ? ended(EndReason.RELEASED, now) : this;
  }

  ToyLockDocument ended(EndReason how, long now) {
    Reply.Ended end = new Reply.Ended(hold.attempt(), AttemptState.HELD, how, false);
    return new ToyLockDocument(lastToken, null, end, now);
  }

  private ToyLockDocument withTokens(Hold by, int tokens, long floor, long now) {
    long first = Math.max(Math.max(lastToken + 1, now), floor);
    int count = (int) Math.min(tokens, Math.max(1, now + MAX_LEAD_MICROS - first));
    Reply.Granted reply = new Reply.Granted(by.attempt(), first, count, by.reply.wanted(), null);
    return new ToyLockDocument(
        first + count - 1, new Hold(reply, by.label, by.since), lastEnd, now);
  }
}
