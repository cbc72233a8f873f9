package io.mortise.quorum;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.quorum.QuorumAttempt.MemberHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends attempts in the members, and retries until each has answered. An end that could not be sent
 * to a member, or may be overtaken by a late acquire, is owed to it, and sent when the member is
 * heard of again. Ends owed to a session that the member has lost are dropped with it.
 */
final class QuorumRelease {
  private static final int AT_A_TIME = 64;

  private final QuorumSession session;
  private final Map<AttemptId, ReleaseRetry>[] releaseRetries;

  /** An end to send to a member again, not before that time. */
  private record ReleaseRetry(LockName name, MemberHold hold, long notBefore) {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // An array of maps.
  QuorumRelease(QuorumSession session) {
    this.session = session;
    this.releaseRetries = new Map[session.size()];
    for (int i = 0; i < releaseRetries.length; i++) {
      releaseRetries[i] = new ConcurrentHashMap<>();
    }
  }

  /**
   * Ends an attempt in one member; no caller waits for it. Under the stripe's lock.
   *
   * @param doubtful whether a request of the attempt may still arrive there after this
   */
  void releaseInBackground(
      QuorumStripe quorumStripe, QuorumAttempt attempt, MemberHold hold, boolean doubtful) {
    HoldTerms terms = attempt.terms;
    if (terms.atLeast() != null) {
      // The hold was never used: it must not keep the lock shut.
      quorumStripe.send(
          () ->
              through(hold)
                  .submit(
                      new Request.Adjust(
                          attempt.name,
                          hold.id(),
                          attempt.mode,
                          new HoldTerms(null, Duration.ofMillis(1), ""),
                          0,
                          0),
                      reply -> {}));
    }
    if (doubtful) {
      scheduleSecondRelease(attempt.name, hold);
    }
    quorumStripe.send(() -> submit(attempt.name, hold));
  }

  /** A member reports an attempt that no request stands for any more. */
  void releaseOrphan(QuorumStripe quorumStripe, LockName name, MemberSession member, AttemptId id) {
    quorumStripe.send(() -> submit(name, new MemberHold(member, id)));
  }

  private void submit(LockName name, MemberHold hold) {
    through(hold).submit(new Request.Abandon(name, hold.id()), reply -> settle(name, hold, reply));
  }

  /** A member has answered the end of an attempt, or has not. */
  private void settle(LockName name, MemberHold hold, Reply reply) {
    Map<AttemptId, ReleaseRetry> owed = releaseRetries[hold.session().member.index];
    if (reply instanceof Reply.Failed) {
      if (!hold.session().isLost() && session.rules().retriesReleases()) {
        owed.putIfAbsent(hold.id(), new ReleaseRetry(name, hold, session.now()));
      }
    } else {
      owed.computeIfPresent(
          hold.id(),
          (id, releaseRetry) -> releaseRetry.notBefore() - session.now() > 0 ? releaseRetry : null);
    }
  }

  /** Repeats the end when no earlier request can arrive any more. */
  void scheduleSecondRelease(LockName name, MemberHold hold) {
    if (!hold.session().isLost() && session.rules().releasesLateRequestsTwice()) {
      long notBefore = session.now() + session.maxInFlightNanos();
      releaseRetries[hold.session().member.index].put(
          hold.id(), new ReleaseRetry(name, hold, notBefore));
    }
  }

  /** The member can be reached. Called without a lock. */
  void retryReleases(int member) {
    int paid = 0;
    for (ReleaseRetry releaseRetry : releaseRetries[member].values()) {
      if (releaseRetry.hold().session().isLost()) {
        releaseRetries[member].remove(releaseRetry.hold().id());
      } else if (releaseRetry.notBefore() - session.now() <= 0 && paid++ < AT_A_TIME) {
        submit(releaseRetry.name(), releaseRetry.hold());
      }
    }
  }

  /** How many ends are owed: none, in a quiet session. For tests of leaks. */
  int owed() {
    int sum = 0;
    for (Map<AttemptId, ReleaseRetry> owed : releaseRetries) {
      sum += owed.size();
    }
    return sum;
  }

  /** Any session may end an attempt; that of the hold may have been closed. */
  private StoreSession through(MemberHold hold) {
    MemberSession now = session.usable(hold.session().member.index);
    return now == null ? hold.session().store : now.store;
  }

  /** Begins to end an attempt; the answer is that of a majority. Under the stripe's lock. */
  void begin(
      QuorumStripe quorumStripe,
      Request.Abandon request,
      @Nullable QuorumAttempt attempt,
      Consumer<Reply> sink) {
    new ReleaseRound(quorumStripe, request, attempt, sink).begin();
  }

  private final class ReleaseRound extends QuorumRound {
    private final Request.Abandon request;
    private final @Nullable QuorumAttempt attempt;

    ReleaseRound(
        QuorumStripe quorumStripe,
        Request.Abandon request,
        @Nullable QuorumAttempt attempt,
        Consumer<Reply> sink) {
      super(QuorumRelease.this.session, quorumStripe, sink);
      this.request = request;
      this.attempt = attempt;
    }

    @Override
    AttemptId attempt() {
      return request.attempt();
    }

    @Override
    @Nullable Reply ask(int index) {
      MemberSession member = session.last(index);
      MemberHold hold;
      if (attempt != null) {
        hold = attempt.memberHolds[index];
        if (hold == null) {
          return new Reply.Ended(request.attempt(), AttemptState.ABSENT, EndReason.UNKNOWN, false);
        }
        if (attempt.doubtful[index]) {
          scheduleSecondRelease(attempt.name, hold);
        }
      } else if (member == null) {
        return session.notSentReply(index, request.attempt());
      } else {
        hold = new MemberHold(member, session.idIn(member, request.attempt(), null));
      }
      LockName name = request.name();
      quorumStripe.send(
          () ->
              through(hold)
                  .submit(
                      new Request.Abandon(name, hold.id()),
                      reply -> {
                        if (attempt != null) {
                          settle(name, hold, reply);
                        }
                        answered(index, hold, reply);
                      }));
      return null;
    }

    @Override
    @Nullable Reply decide() {
      int ended = count(Reply.Ended.class);
      int gone = count(Reply.Refused.class, refused -> refused.why() == RefusalReason.SESSION_GONE);
      if (ended + gone + pending() < session.majority()) {
        return unanswered();
      }
      if (gone > session.size() - session.majority()) {
        return Refusals.sessionClosed(request.attempt());
      }
      boolean more = count(Reply.Ended.class, Reply.Ended::more) > 0;
      for (EndReason endReason : EndReason.values()) {
        for (AttemptState attemptState : AttemptState.values()) {
          if (count(Reply.Ended.class, one -> one.how() == endReason && one.was() == attemptState)
              >= session.majority()) {
            return new Reply.Ended(request.attempt(), attemptState, endReason, more);
          }
        }
      }
      return pending() > 0 ? null : mixed(more);
    }

    /** The members report different ends of it. */
    private Reply mixed(boolean more) {
      for (EndReason endReason :
          new EndReason[] {
            EndReason.EVICTED, EndReason.TAKEN, EndReason.EXPIRED, EndReason.RELEASED
          }) {
        for (int i = 0; i < session.size(); i++) {
          if (reply(i) instanceof Reply.Ended ended && ended.how() == endReason) {
            return new Reply.Ended(request.attempt(), ended.was(), endReason, more);
          }
        }
      }
      return new Reply.Ended(request.attempt(), AttemptState.ABSENT, EndReason.UNKNOWN, more);
    }

    private Reply unanswered() {
      for (int i = 0; i < session.size(); i++) {
        if (reply(i) instanceof Reply.Failed failed) {
          return new Reply.Failed(request.attempt(), true, failed.cause());
        }
      }
      throw new IllegalStateException("Nobody failed to answer.");
    }
  }
}
