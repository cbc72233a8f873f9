package io.mortise.quorum;

import io.mortise.quorum.QuorumAttempt.MemberHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Changes a hold in all members that have it: times, or a fresh block of tokens. A majority must
 * have minted some of these in common, as for a grant; otherwise all are asked again, from above
 * the minted ones.
 */
final class QuorumAdjust extends QuorumRound {
  private static final int MOST_BALLOTS = 4;

  private final Request.Adjust request;
  private final @Nullable QuorumAttempt attempt;
  private long floor;
  private int ballots = 1;

  QuorumAdjust(
      QuorumSession session,
      Request.Adjust request,
      @Nullable QuorumAttempt attempt,
      Consumer<Reply> sink) {
    super(session, session.stripe(request.name()), sink);
    this.request = request;
    this.attempt = attempt;
    long last = attempt == null ? 0 : attempt.tokens.last();
    this.floor =
        request.tokens() > 0 && session.hasTokens()
            ? session.floor(Math.max(request.tokenFloor(), last + 1))
            : 0;
  }

  @Override
  AttemptId attempt() {
    return request.attempt();
  }

  @Override
  @Nullable Reply ask(int index) {
    MemberSession member = session.usable(index);
    MemberHold memberHold = attempt == null ? null : attempt.memberHolds[index];
    if (member == null) {
      return session.notSentReply(index, request.attempt());
    }
    // A member without the hold is asked too: its refusal tells why.
    AttemptId id =
        memberHold == null ? session.idIn(member, request.attempt(), attempt) : memberHold.id();
    MemberSession through = memberHold == null ? member : memberHold.session();
    Request.Adjust asked =
        new Request.Adjust(
            request.name(), id, request.mode(), request.terms(), request.tokens(), floor);
    int ballot = ballots;
    quorumStripe.send(() -> through.store.submit(asked, reply -> answered(index, ballot, reply)));
    return null;
  }

  @Override
  boolean isCurrent(int member, Object asked) {
    return asked.equals(ballots);
  }

  @Override
  @Nullable Reply decide() {
    int granted = count(Reply.Granted.class);
    for (RefusalReason refusalReason : RefusalReason.values()) {
      int refusing = count(Reply.Refused.class, refused -> refused.why() == refusalReason);
      if (refusing > session.size() - session.majority()) {
        return new Reply.Refused(
            request.attempt(),
            refusalReason,
            "Too few members of store '"
                + session.storeName()
                + "' would do it: "
                + refusalReason
                + ".");
      }
    }
    if (granted < session.majority() || attempt == null || attempt.votes == null) {
      return granted + pending() >= session.majority() && pending() > 0 ? null : failed();
    }
    List<TokenBlock> minted = new ArrayList<>();
    List<Duration> left = new ArrayList<>();
    for (int i = 0; i < session.size(); i++) {
      if (reply(i) instanceof Reply.Granted one) {
        minted.add(new TokenBlock(one.token(), one.tokens()));
        if (one.atMostLeft() != null) {
          left.add(one.atMostLeft());
        }
        attempt.wanted |= one.wanted();
      }
    }
    if (request.tokens() > 0) {
      TokenBlock fresh =
          session.hasTokens()
              ? session.rules().tokens(minted, session.majority())
              : TokenBlock.NONE;
      if (fresh == null) {
        return pending() > 0 ? null : nextBallot(minted);
      }
      attempt.tokens = fresh;
    }
    left.sort((a, b) -> b.compareTo(a));
    int place = session.majority() - (granted - left.size());
    return new Reply.Granted(
        request.attempt(),
        attempt.tokens.first(),
        attempt.tokens.count(),
        attempt.wanted,
        place <= 0 ? null : left.get(place - 1),
        attempt.votes);
  }

  private @Nullable Reply nextBallot(List<TokenBlock> minted) {
    session.widenLead(minted.stream().mapToLong(TokenBlock::first).max().orElse(0) - floor);
    if (ballots == MOST_BALLOTS) {
      return failed();
    }
    long last = minted.stream().mapToLong(TokenBlock::last).max().orElse(0);
    floor = Math.max(request.tokenFloor(), session.floorAbove(last, ballots++));
    begin();
    return null;
  }

  private Reply failed() {
    Throwable cause = null;
    for (int i = 0; i < session.size(); i++) {
      cause = reply(i) instanceof Reply.Failed failed && cause == null ? failed.cause() : cause;
    }
    return new Reply.Failed(
        request.attempt(),
        true,
        QuorumErrors.unavailable(
            "%s of %s members did it, %s are needed, all alike."
                .formatted(count(Reply.Granted.class), session.size(), session.majority()),
            cause));
  }
}
