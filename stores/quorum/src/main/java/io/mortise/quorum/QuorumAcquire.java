package io.mortise.quorum;

import io.mortise.HoldTerms;
import io.mortise.quorum.QuorumAttempt.MemberHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks all members at the same time to grant.
 *
 * <p><b>Granted</b> as soon as a majority has granted and has minted a token in common; later
 * grants join the votes. Tokens are requested from a floor a little above the members' clocks, so
 * that mostly all mint the same ones and one round trip is enough. Otherwise the second phase asks
 * the granting members for fresh tokens above all minted ones, while the attempt holds there.
 *
 * <p><b>Not granted</b> as soon as a majority is out of reach. Then all grants are released
 * everywhere at once, also in members without an answer: two attempts that each keep a part would
 * wait for each other. It is contention if a majority answered, else an outage.
 */
final class QuorumAcquire extends QuorumRound {
  private static final int MOST_BALLOTS = 4;

  private final QuorumAttempt attempt;
  private final Request.Acquire request;

  /** The members' answers in the previous phase. */
  private final @Nullable Reply[] before;

  private long floor;
  private int ballots = 1;

  QuorumAcquire(
      QuorumSession session, QuorumAttempt attempt, Request.Acquire request, Consumer<Reply> sink) {
    super(session, session.stripe(request.name()), sink);
    this.attempt = attempt;
    this.request = request;
    this.before = new @Nullable Reply[session.size()];
    this.floor = session.floor(request.tokenFloor());
  }

  @Override
  AttemptId attempt() {
    return attempt.id;
  }

  @Override
  @Nullable Reply ask(int index) {
    return ballots == 1 ? askToGrant(index) : askForTokens(index);
  }

  private @Nullable Reply askToGrant(int index) {
    MemberSession member = session.usable(index);
    if (member != null && member.isRefused()) {
      return session.refused(attempt.id);
    }
    if (member == null || !session.mayVote(member)) {
      return session.notSentReply(index, attempt.id);
    }
    MemberHold memberHold = attempt.memberHolds[index];
    if (memberHold == null || memberHold.session() != member) {
      if (memberHold != null) {
        session.releasing().releaseInBackground(quorumStripe, attempt, memberHold, false);
      }
      memberHold = new MemberHold(member, session.idIn(member, attempt.id, attempt));
      attempt.memberHolds[index] = memberHold;
      attempt.gone[index] = false;
    }
    SessionId dead = request.provenDead();
    boolean proven = member.member.hasEnded(dead) || !session.rules().judgesPerMember();
    send(index, memberHold, proven ? dead : null);
    return null;
  }

  private @Nullable Reply askForTokens(int index) {
    MemberHold memberHold = attempt.memberHolds[index];
    if (memberHold == null || !(before[index] instanceof Reply.Granted)) {
      return before[index];
    }
    Request.Adjust asked =
        new Request.Adjust(
            request.name(),
            memberHold.id(),
            request.mode(),
            HoldTerms.NONE,
            request.tokens(),
            floor);
    quorumStripe.send(
        () ->
            memberHold.session().store.submit(asked, reply -> answered(index, memberHold, reply)));
    return null;
  }

  private void send(int index, MemberHold memberHold, @Nullable SessionId provenDead) {
    Request.Acquire asked =
        new Request.Acquire(
            request.name(),
            memberHold.id(),
            request.mode(),
            false,
            request.terms(),
            request.tokens(),
            floor,
            provenDead,
            request.confirms());
    quorumStripe.send(
        () ->
            memberHold.session().store.submit(asked, reply -> answered(index, memberHold, reply)));
  }

  @Override
  boolean isCurrent(int member, Object asked) {
    return attempt.memberHolds[member] == asked;
  }

  /**
   * A grant of a server that may have been restarted just now does not count. A failure in the
   * second phase leaves the grants of the first.
   */
  @Override
  Reply classify(int member, Reply reply) {
    MemberHold memberHold = attempt.memberHolds[member];
    boolean doubtful =
        memberHold != null
            && session.rules().doubtsAfterBreaks()
            && (memberHold.session().isInDoubt() || memberHold.session().isLost());
    if (reply instanceof Reply.Granted && doubtful) {
      return session.failed(member, reply.attempt(), true, "may have been restarted");
    }
    if (reply instanceof Reply.Granted && attempt.gone[member]) {
      // The member reported its end. After an operator's eviction it still answers as granted.
      return Refusals.ended(reply.attempt(), EndReason.EVICTED);
    }
    if (ballots > 1 && reply instanceof Reply.Failed failed) {
      return new Reply.Failed(reply.attempt(), true, failed.cause());
    }
    if (ballots > 1
        && reply instanceof Reply.Refused refused
        && refused.why() == RefusalReason.NOT_HELD) {
      return new Reply.Refused(reply.attempt(), RefusalReason.ENDED, refused.message());
    }
    return reply;
  }

  @Override
  void heard(int member, Reply reply) {
    if (reply instanceof Reply.Failed failed && failed.mayHaveRun()) {
      attempt.doubtful[member] = true;
      MemberHold memberHold = attempt.memberHolds[member];
      if (attempt.ended && memberHold != null) {
        session.releasing().scheduleSecondRelease(attempt.name, memberHold);
      }
    }
  }

  @Override
  @Nullable Reply decide() {
    int granted = count(Reply.Granted.class);
    if (granted >= session.majority()) {
      return granted();
    }
    if (granted + pending() >= session.majority()) {
      return null;
    }
    Reply reply = refused(granted);
    if (reply instanceof Reply.Busy || reply instanceof Reply.Refused) {
      session.discardAttempt(quorumStripe, attempt, isBlank(reply));
    }
    return reply;
  }

  // ---- Granted ----

  private @Nullable Reply granted() {
    VoteSet votes = attempt.votes;
    if (votes != null) {
      keepInStep(votes);
    }
    if (votes == null || votes.isOver()) {
      TokenBlock tokens = tokens();
      if (tokens == null) {
        return pending() > 0 ? null : nextBallot();
      }
      attempt.tokens = tokens;
      if (votes != null) {
        votes.end();
      }
      votes = new VoteSet(voters(), session.majority(), session.rules());
      attempt.votes = votes;
      attempt.goneTold = false;
      if (attempt.ended) {
        votes.end();
      }
    }
    attempt.wanted |= count(Reply.Granted.class, Reply.Granted::wanted) > 0;
    return new Reply.Granted(
        attempt.id,
        attempt.tokens.first(),
        attempt.tokens.count(),
        attempt.wanted,
        atMostLeft(),
        votes);
  }

  private @Nullable TokenBlock tokens() {
    return session.hasTokens()
        ? session.rules().tokens(minted(), session.majority())
        : TokenBlock.NONE;
  }

  private List<TokenBlock> minted() {
    List<TokenBlock> minted = new ArrayList<>();
    for (int i = 0; i < session.size(); i++) {
      if (reply(i) instanceof Reply.Granted granted) {
        minted.add(new TokenBlock(granted.token(), granted.tokens()));
      }
    }
    return minted;
  }

  private @Nullable MemberSession[] voters() {
    @Nullable MemberSession[] voters = new @Nullable MemberSession[session.size()];
    for (int i = 0; i < voters.length; i++) {
      MemberHold memberHold = attempt.memberHolds[i];
      if (memberHold != null && reply(i) instanceof Reply.Granted) {
        voters[i] = memberHold.session();
      }
    }
    return voters;
  }

  /**
   * A repeated answer to an attempt that was granted before. While enough members support that
   * grant, it is the answer, whatever others granted anew: a hold that may be relied on is not
   * released in part.
   */
  private void keepInStep(VoteSet votes) {
    for (int i = 0; i < session.size(); i++) {
      MemberHold memberHold = attempt.memberHolds[i];
      Reply reply = reply(i);
      if (memberHold != null && reply instanceof Reply.Granted granted) {
        if (votes.has(memberHold.session()) && !isTheSame(granted)) {
          // Evicted there, and granted again: the vote stood for the ended hold.
          votes.drop(i);
        }
        if (!votes.has(memberHold.session())) {
          votes.add(memberHold.session(), session.latestValid());
        }
      } else if (reply instanceof Reply.Busy || reply instanceof Reply.Refused) {
        votes.drop(i);
      }
    }
  }

  private boolean isTheSame(Reply.Granted granted) {
    return !session.hasTokens()
        || new TokenBlock(granted.token(), granted.tokens()).contains(attempt.tokens);
  }

  /** The time for which a majority keeps it. */
  private @Nullable Duration atMostLeft() {
    List<Duration> left = new ArrayList<>();
    int endless = 0;
    for (int i = 0; i < session.size(); i++) {
      if (reply(i) instanceof Reply.Granted granted) {
        if (granted.atMostLeft() == null) {
          endless++;
        } else {
          left.add(granted.atMostLeft());
        }
      }
    }
    left.sort((a, b) -> b.compareTo(a));
    int place = session.majority() - endless;
    return place <= 0 ? null : left.get(place - 1);
  }

  @Override
  void late(int index, Reply reply) {
    MemberHold memberHold = attempt.memberHolds[index];
    VoteSet votes = attempt.votes;
    if (reply instanceof Reply.Granted granted
        && memberHold != null
        && votes != null
        && !attempt.ended) {
      votes.add(memberHold.session(), session.latestValid());
      attempt.wanted |= granted.wanted();
    }
  }

  /** A majority grants, but has no token in common: asks for others, above all that were minted. */
  private @Nullable Reply nextBallot() {
    List<TokenBlock> minted = minted();
    long last = minted.stream().mapToLong(TokenBlock::last).max().orElse(0);
    session.widenLead(minted.stream().mapToLong(TokenBlock::first).max().orElse(0) - floor);
    if (attempt.ended) {
      // Its end was sent to all of them after it; they would mint in vain.
      return new Reply.Refused(
          attempt.id,
          RefusalReason.ENDED,
          "The attempt was ended before its members agreed on a token.");
    }
    if (ballots == MOST_BALLOTS) {
      if (giveBack()) {
        rename();
      }
      return failed("its members mint no token alike");
    }
    for (int i = 0; i < before.length; i++) {
      before[i] = reply(i);
    }
    floor = Math.max(request.tokenFloor(), session.floorAbove(last, ballots++));
    begin();
    return null;
  }

  // ---- Not granted ----

  private @Nullable Reply refused(int granted) {
    int busy = count(Reply.Busy.class);
    RefusalReason refusalReason = commonRefusal();
    int refused = count(Reply.Refused.class);
    boolean reached = granted + busy + refused >= session.majority();
    if (refusalReason == null && !reached && pending() > 0) {
      return null;
    }
    VoteSet votes = attempt.votes;
    if (votes != null) {
      votes.end();
      attempt.votes = null;
    }
    // An ended attempt does not continue, and its end may still be requested under its name.
    boolean ended =
        votes != null
            || refusalReason == RefusalReason.ENDED
            || refusalReason == RefusalReason.EVICTED
            || refusalReason == RefusalReason.SESSION_GONE;
    if (giveBack() && !ended) {
      rename();
    }
    if (refusalReason != null) {
      return refusal(refusalReason);
    }
    if (votes != null) {
      return new Reply.Refused(
          attempt.id,
          RefusalReason.ENDED,
          "Too few members of the store still vouch for the attempt.");
    }
    return reached
        ? busy()
        : failed(
            "%s of %s members granted, %s are needed"
                .formatted(granted, session.size(), session.majority()));
  }

  /** Whether no member knows the attempt, and it has had no other name. */
  private boolean isBlank(Reply reply) {
    boolean blank = reply instanceof Reply.Busy && attempt.ballot == 0;
    for (int i = 0; i < session.size(); i++) {
      boolean absent = reply(i) instanceof Reply.Busy && !attempt.gone[i] && !attempt.doubtful[i];
      blank &= attempt.memberHolds[i] == null || absent;
    }
    return blank;
  }

  /** The common reason if enough members refuse that no majority is left; else null. */
  private @Nullable RefusalReason commonRefusal() {
    for (RefusalReason refusalReason : RefusalReason.values()) {
      int refusing = count(Reply.Refused.class, refused -> refused.why() == refusalReason);
      if (refusing > session.size() - session.majority()) {
        return refusalReason;
      }
    }
    return null;
  }

  private Reply refusal(RefusalReason refusalReason) {
    for (int i = 0; i < session.size(); i++) {
      if (reply(i) instanceof Reply.Refused refused && refused.why() == refusalReason) {
        return new Reply.Refused(attempt.id, refusalReason, refused.message());
      }
    }
    throw new IllegalStateException("Nobody refuses for " + refusalReason + ".");
  }

  private Reply busy() {
    Reply.Holder inTheWay = null;
    Duration retryAfter = Duration.ofMillis(100);
    boolean told = false;
    for (int i = 0; i < session.size(); i++) {
      if (reply(i) instanceof Reply.Busy busy) {
        retryAfter =
            !told || busy.retryAfter().compareTo(retryAfter) < 0 ? busy.retryAfter() : retryAfter;
        told = true;
        Reply.Holder holder = busy.holder();
        if (holder != null
            && (inTheWay == null
                || (holder.sessionLeft().isZero() && !inTheWay.sessionLeft().isZero()))) {
          AttemptId seen = holder.attempt();
          inTheWay =
              new Reply.Holder(
                  new AttemptId(seen.session(), MemberIds.number(seen)),
                  holder.token(),
                  holder.sessionLeft());
        }
      }
    }
    return new Reply.Busy(attempt.id, inTheWay, retryAfter);
  }

  /** The engine's message names the lock and the store, so these names are not repeated here. */
  private Reply failed(String what) {
    Map<String, List<String>> members = new LinkedHashMap<>();
    Throwable cause = null;
    for (int i = 0; i < session.size(); i++) {
      Reply reply = reply(i);
      String name = session.display(i);
      if (reply instanceof Reply.Failed failed) {
        String message = String.valueOf(failed.cause().getMessage());
        boolean ofOurs = message.startsWith(name + ": ");
        cause = cause == null && !ofOurs ? failed.cause() : cause;
        members.computeIfAbsent(reason(name, message), any -> new ArrayList<>()).add(name);
      } else if (reply == null) {
        members.computeIfAbsent("no answer yet", any -> new ArrayList<>()).add(name);
      }
    }
    StringBuilder text = new StringBuilder(what);
    String link = ": ";
    for (Map.Entry<String, List<String>> each : members.entrySet()) {
      text.append(link).append(String.join(", ", each.getValue())).append(": ");
      text.append(each.getKey());
      link = "; ";
    }
    text.append('.');
    return new Reply.Failed(attempt.id, true, QuorumErrors.unavailable(text.toString(), cause));
  }

  /** A member's message, without its name in front and the full stop. */
  private static String reason(String name, String message) {
    String prefix = name + ": ";
    String reason = message.startsWith(prefix) ? message.substring(prefix.length()) : message;
    return reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason;
  }

  /**
   * Ends the attempt in every member where it was or may be granted; returns whether there is any.
   */
  private boolean giveBack() {
    boolean any = false;
    for (int i = 0; i < session.size(); i++) {
      MemberHold memberHold = attempt.memberHolds[i];
      if (memberHold == null) {
        continue;
      }
      Reply reply = reply(i);
      boolean doubtful =
          reply == null || (reply instanceof Reply.Failed failed && failed.mayHaveRun());
      if (reply instanceof Reply.Granted || (doubtful && session.rules().releasesEverywhere())) {
        session.releasing().releaseInBackground(quorumStripe, attempt, memberHold, doubtful);
        any = true;
      }
    }
    return any;
  }

  /** The next retry begins a new attempt in the members. */
  private void rename() {
    attempt.ballot = session.rules().numberOfNextTry(attempt.ballot) % MemberIds.BALLOTS;
    Arrays.fill(attempt.memberHolds, null);
    Arrays.fill(attempt.doubtful, false);
    Arrays.fill(attempt.gone, false);
  }
}
