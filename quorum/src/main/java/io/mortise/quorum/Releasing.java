package io.mortise.quorum;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.quorum.Attempt.Hold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends attempts in the members, and does not rest until each has answered: what could not be told
 * to a member, or may be overtaken by a late acquire, is owed to it, and told when it was heard of
 * again. What is owed to a session that the member has lost is forgotten with it.
 */
final class Releasing {
  private static final int AT_A_TIME = 64;

  private final QuorumSession session;
  private final Map<AttemptId, Debt>[] debts;

  /** To be ended in a member, once more if that is not before the time. */
  private record Debt(LockName name, Hold hold, long notBefore) {}

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of maps
  Releasing(QuorumSession session) {
    this.session = session;
    this.debts = new Map[session.size()];
    for (int i = 0; i < debts.length; i++) {
      debts[i] = new ConcurrentHashMap<>();
    }
  }

  /**
   * Ends an attempt in one member; nobody waits for it. Under the stripe's lock.
   *
   * @param doubtful whether a request of the attempt may yet arrive there after this
   */
  void quietly(Stripe stripe, Attempt attempt, Hold hold, boolean doubtful) {
    Terms terms = attempt.terms;
    if (terms.atLeast() != null) {
      // Nobody has used it: it must not keep the lock shut.
      stripe.send(
          () ->
              through(hold)
                  .submit(
                      new Request.Adjust(
                          attempt.name,
                          hold.id(),
                          attempt.mode,
                          new Terms(null, Duration.ofMillis(1), ""),
                          0),
                      reply -> {}));
    }
    if (doubtful) {
      oweLate(attempt.name, hold);
    }
    stripe.send(() -> submit(attempt.name, hold));
  }

  /** An attempt that nobody stands for any more was heard of. */
  void leftover(Stripe stripe, LockName name, MemberSession member, AttemptId id) {
    stripe.send(() -> submit(name, new Hold(member, id)));
  }

  private void submit(LockName name, Hold hold) {
    through(hold).submit(new Request.Abandon(name, hold.id()), reply -> settle(name, hold, reply));
  }

  /** A member has answered, or has not, to the end of an attempt. */
  private void settle(LockName name, Hold hold, Reply reply) {
    Map<AttemptId, Debt> owed = debts[hold.session().member.index];
    if (reply instanceof Reply.Failed) {
      if (!hold.session().isLost() && session.rules().tellsEndsUntilTheyAreHeard()) {
        owed.putIfAbsent(hold.id(), new Debt(name, hold, session.now()));
      }
    } else {
      owed.computeIfPresent(
          hold.id(), (id, debt) -> debt.notBefore() - session.now() > 0 ? debt : null);
    }
  }

  /** Once more when nothing that was sent before can arrive any more. */
  void oweLate(LockName name, Hold hold) {
    if (!hold.session().isLost() && session.rules().endsTwiceWhatMayBeLate()) {
      long notBefore = session.now() + session.maxInFlightNanos();
      debts[hold.session().member.index].put(hold.id(), new Debt(name, hold, notBefore));
    }
  }

  /** The member can be reached. With no lock held. */
  void pay(int member) {
    int paid = 0;
    for (Debt debt : debts[member].values()) {
      if (debt.hold().session().isLost()) {
        debts[member].remove(debt.hold().id());
      } else if (debt.notBefore() - session.now() <= 0 && paid++ < AT_A_TIME) {
        submit(debt.name(), debt.hold());
      }
    }
  }

  /** How much is owed: none, in a quiet session. For tests of leaks. */
  int owed() {
    int sum = 0;
    for (Map<AttemptId, Debt> owed : debts) {
      sum += owed.size();
    }
    return sum;
  }

  /** Anybody's session may end an attempt; that of a hold may have been closed. */
  private StoreSession through(Hold hold) {
    MemberSession now = session.usable(hold.session().member.index);
    return now == null ? hold.session().store : now.store;
  }

  /** Begins to end an attempt; the answer is that of a majority. Under the stripe's lock. */
  void begin(
      Stripe stripe, Request.Abandon request, @Nullable Attempt attempt, Consumer<Reply> sink) {
    new Ending(stripe, request, attempt, sink).begin();
  }

  private final class Ending extends Round {
    private final Request.Abandon request;
    private final @Nullable Attempt attempt;

    Ending(
        Stripe stripe, Request.Abandon request, @Nullable Attempt attempt, Consumer<Reply> sink) {
      super(Releasing.this.session, stripe, sink);
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
      Hold hold;
      if (attempt != null) {
        hold = attempt.holds[index];
        if (hold == null) {
          return new Reply.Ended(request.attempt(), Was.ABSENT, How.UNKNOWN, false);
        }
        if (attempt.doubtful[index]) {
          oweLate(attempt.name, hold);
        }
      } else if (member == null) {
        return session.unasked(index, request.attempt());
      } else {
        hold = new Hold(member, session.idIn(member, request.attempt(), null));
      }
      LockName name = request.name();
      stripe.send(
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
      int gone = count(Reply.Refused.class, refused -> refused.why() == Why.SESSION_GONE);
      if (ended + gone + pending() < session.majority()) {
        return unanswered();
      }
      if (gone > session.size() - session.majority()) {
        return new Reply.Refused(
            request.attempt(), Why.SESSION_GONE, "The session of this attempt was closed.");
      }
      boolean more = count(Reply.Ended.class, Reply.Ended::more) > 0;
      for (How how : How.values()) {
        for (Was was : Was.values()) {
          if (count(Reply.Ended.class, one -> one.how() == how && one.was() == was)
              >= session.majority()) {
            return new Reply.Ended(request.attempt(), was, how, more);
          }
        }
      }
      return pending() > 0 ? null : mixed(more);
    }

    /** The members know different ends of it. */
    private Reply mixed(boolean more) {
      for (How how : new How[] {How.EVICTED, How.TAKEN, How.EXPIRED, How.RELEASED}) {
        for (int i = 0; i < session.size(); i++) {
          if (reply(i) instanceof Reply.Ended ended && ended.how() == how) {
            return new Reply.Ended(request.attempt(), ended.was(), how, more);
          }
        }
      }
      return new Reply.Ended(request.attempt(), Was.ABSENT, How.UNKNOWN, more);
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
