package io.mortise.quorum;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.quorum.Attempt.Hold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Why;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session made of one session in each member.
 *
 * <p><b>A lock is held</b> by the votes of the members that granted it, each of which hangs on the
 * session there. Where a member has lost its session (it expired, the member forgot it), the votes
 * are gone for good, though the session goes on with a new one in that member: a majority of
 * sessions that live says nothing about a lock that another majority had granted (design note A4).
 *
 * <p><b>The whole session</b> is renewed when a majority of members renewed theirs, and lost when a
 * majority has lost theirs.
 *
 * <p><b>Requests</b> are rounds, see {@link Acquiring}, {@link Releasing} and {@link Adjusting}.
 * What stands here of an attempt is kept from its first request to its abandon, or until it fails:
 * the engine does not abandon what was only tried. See {@link #setAside}.
 */
final class QuorumSession implements StoreSession {
  private static final Logger log = LoggerFactory.getLogger(QuorumSession.class);
  private static final int STRIPES = 64;

  private final QuorumLockStore store;
  private final SessionSpec spec;
  private final Consumer<News> hints;
  private final long timeoutNanos;
  private final Stripe[] stripes = new Stripe[STRIPES];
  private final Releasing releasing;
  private final NewsBox box = new NewsBox();
  private final Renewing renewing;
  private volatile boolean closed;
  private volatile Runnable doubt = () -> {};

  QuorumSession(QuorumLockStore store, SessionSpec spec, Consumer<News> hints) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
    // Far below the TTL, or one member that is silent would cost the others their time.
    this.timeoutNanos = Math.min(store.timeoutNanos(), spec.ttl().toNanos() / 4);
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe();
    }
    this.releasing = new Releasing(this);
    this.renewing = new Renewing(this, store, spec);
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  // ---- What rounds ask ----

  int size() {
    return store.members().size();
  }

  int majority() {
    return store.majority();
  }

  QuorumRules rules() {
    return store.rules();
  }

  String storeName() {
    return store.profile().display();
  }

  String display(int member) {
    return store.members().get(member).display();
  }

  boolean hasTokens() {
    return store.hasTokens();
  }

  long now() {
    return store.ticker().nanos();
  }

  long maxInFlightNanos() {
    return store.profile().maxInFlight().toNanos();
  }

  long floor(long least) {
    return store.floor(least);
  }

  long floorAbove(long minted, int ballot) {
    return store.floorAbove(minted, ballot);
  }

  void widenLead(long tooLittle) {
    store.widenLead(tooLittle);
  }

  /** A hold that was renewed after this moment is valid for long enough to let a member join. */
  long latestValid() {
    return now() - spec.ttl().toNanos() / 2;
  }

  Releasing releasing() {
    return releasing;
  }

  Stripe stripe(LockName name) {
    return stripes[(name.hashCode() * 0x9E3779B9) >>> 26];
  }

  /** The session in a member; null while there is none. */
  @Nullable MemberSession usable(int member) {
    MemberSession session = renewing.session(member);
    return session == null || session.isLost() ? null : session;
  }

  /** The session in a member, also one that it has lost; null if there never was one. */
  @Nullable MemberSession last(int member) {
    return renewing.session(member);
  }

  /**
   * Whether a member is known to remember all that may still be counted on. One that has not yet
   * answered a renewal of its present session has not told what it remembers with: it may have
   * forgotten all just now, and the answer that said so was lost.
   */
  boolean mayVote(MemberSession member) {
    boolean told = member.isOpen() || !renewing.hasBegun() || !store.rules().waitsUntilTold();
    return told && store.mayVote(member.member);
  }

  /** A member's server may be another one: all are renewed, at once. */
  void renewNow() {
    doubt.run();
  }

  @Override
  public void whenInDoubt(Runnable renewNow) {
    doubt = renewNow;
  }

  /** How an attempt is called in a member where it does not stand for all that is known here. */
  AttemptId idIn(MemberSession member, AttemptId attempt, @Nullable Attempt known) {
    return attempt.session().equals(spec.id())
        ? MemberIds.attempt(member.id(), attempt.number(), known == null ? 0 : known.ballot)
        : attempt;
  }

  /** A member has said that the session is not to be gone on with here. */
  Reply refused(AttemptId attempt) {
    return new Reply.Refused(
        attempt, Why.SESSION_GONE, "Session '" + spec.id() + "' is not this process's.");
  }

  Reply unasked(int member, AttemptId attempt) {
    String why;
    if (isKeptOut(member)) {
      why = store.quarantined(store.members().get(member));
    } else {
      why = usable(member) == null ? "not reached yet" : "no vote before its next answer";
    }
    return failed(member, attempt, false, why);
  }

  /** Whether a member has no vote because it may have forgotten. */
  private boolean isKeptOut(int member) {
    return !store.mayVote(store.members().get(member));
  }

  Reply silence(int member, AttemptId attempt) {
    return failed(
        member,
        attempt,
        true,
        "no answer within %d ms".formatted(TimeUnit.NANOSECONDS.toMillis(timeoutNanos)));
  }

  /** What stands for the answer of a member, beginning with its name. */
  Reply failed(int member, AttemptId attempt, boolean mayHaveRun, String why) {
    return new Reply.Failed(
        attempt, mayHaveRun, new StoreUnavailableException(display(member) + ": " + why + "."));
  }

  /** Calls when the time for answers is over; returns what stops that. */
  Runnable later(Runnable task) {
    return store.later(timeoutNanos, task);
  }

  // ---- Requests ----

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = store.profile().refusal(request).orElse(null);
    boolean over = closed || (renewing.isOver() && !(request instanceof Request.Abandon));
    if (refusal == null && over) {
      refusal = gone(request);
    }
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    Stripe stripe = stripe(request.name());
    stripe.lock();
    try {
      if (request instanceof Request.Acquire acquire) {
        acquire(stripe, acquire, sink);
      } else if (request instanceof Request.Abandon abandon) {
        releasing.begin(stripe, abandon, forget(stripe, abandon.attempt()), sink);
      } else if (request instanceof Request.Adjust adjust) {
        new Adjusting(this, adjust, known(stripe, adjust.attempt()), sink).begin();
      }
    } finally {
      stripe.unlock();
    }
  }

  private Reply gone(Request request) {
    return new Reply.Refused(
        request.attempt(), Why.SESSION_GONE, "Session '" + spec.id() + "' has ended.");
  }

  private void acquire(Stripe stripe, Request.Acquire request, Consumer<Reply> sink) {
    long number = request.attempt().number();
    Attempt attempt = known(stripe, request.attempt());
    Attempt past = stripe.past.remove(number);
    if (attempt == null && past == null && stripe.mayHaveForgotten(number)) {
      // It may have had several names in the members, whose ends are on their way yet.
      stripe.afterwards(() -> sink.accept(forgotten(request.attempt())));
      return;
    }
    if (attempt == null) {
      attempt = new Attempt(request, size());
      // Asked for again after its end: under the name whose end the members know.
      attempt.ballot = past == null ? 0 : past.ballot;
    }
    stripe.attempts.put(number, attempt);
    Acquiring before = attempt.round;
    if (before != null && !before.isOver()) {
      before.join(sink);
      return;
    }
    Acquiring round = new Acquiring(this, attempt, request, sink);
    attempt.round = round;
    round.begin();
  }

  private static Reply forgotten(AttemptId attempt) {
    return new Reply.Refused(
        attempt, Why.ENDED, "The attempt was given up, and too many others since.");
  }

  private @Nullable Attempt known(Stripe stripe, AttemptId attempt) {
    return attempt.session().equals(spec.id()) ? stripe.known(attempt.number()) : null;
  }

  /** Its end begins, or is asked for again. */
  private @Nullable Attempt forget(Stripe stripe, AttemptId id) {
    Attempt attempt = known(stripe, id);
    if (attempt == null) {
      return id.session().equals(spec.id()) ? stripe.past.get(id.number()) : null;
    }
    stripe.attempts.remove(id.number());
    if (attempt.isRenamed()) {
      stripe.past.put(id.number(), attempt);
    }
    attempt.ended = true;
    attempt.round = null;
    if (attempt.votes != null) {
      attempt.votes.end();
    }
    box.forget(id);
    return attempt;
  }

  /**
   * A round has ended without a grant, and what was granted was given back. Perhaps nobody asks for
   * the attempt again, or for its end. Under the stripe's lock.
   *
   * @param isBlank whether asking for it again is as if it had never been asked for
   */
  void setAside(Stripe stripe, Attempt attempt, boolean isBlank) {
    // Who asked is not to be kept by it.
    attempt.round = null;
    long number = attempt.id.number();
    if (stripe.attempts.remove(number, attempt) && !isBlank) {
      stripe.past.put(number, attempt);
    }
  }

  /**
   * How many attempts and ends are kept until more is heard of them: none when nothing is held,
   * asked for or owed. Not those few of the past. For tests of leaks.
   */
  int remembered() {
    int sum = releasing.owed();
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        sum += stripe.attempts.size();
      } finally {
        stripe.unlock();
      }
    }
    return sum;
  }

  // ---- What members tell ----

  /** A member has told something, by a push or in a renewal. With no lock held. */
  void heard(MemberSession member, News news) {
    if (!renewing.hasBegun()) {
      // Somebody else made an object for the same session, and goes on with it.
      return;
    }
    int index = member.member.index;
    Stripe stripe = stripe(news.name());
    stripe.lock();
    try {
      Attempt attempt = stripe.known(MemberIds.number(news.attempt()));
      Hold hold = attempt == null ? null : attempt.holds[index];
      boolean ours = hold != null && hold.id().equals(news.attempt());
      if (attempt == null || !ours) {
        if (attempt == null && news instanceof News.Gone gone) {
          // Of one that was given up, and perhaps not in time.
          AttemptId id = new AttemptId(spec.id(), MemberIds.number(news.attempt()));
          tell(stripe, new News.Gone(news.name(), id, gone.how()));
        } else if (news instanceof News.Wanted) {
          releasing.leftover(stripe, news.name(), member, news.attempt());
        }
      } else if (news instanceof News.Wanted) {
        wanted(stripe, attempt);
      } else if (news instanceof News.Gone gone) {
        gone(stripe, attempt, index, gone.how());
      }
    } finally {
      stripe.unlock();
    }
  }

  private void wanted(Stripe stripe, Attempt attempt) {
    if (!attempt.wantedTold && attempt.isGranted()) {
      attempt.wantedTold = true;
      tell(stripe, new News.Wanted(attempt.name, attempt.id));
    }
    attempt.wanted = true;
  }

  private void gone(Stripe stripe, Attempt attempt, int member, How how) {
    VoteSet votes = attempt.votes;
    attempt.gone[member] = true;
    int gone = 0;
    for (boolean there : attempt.gone) {
      gone += there ? 1 : 0;
    }
    if (votes == null
        ? gone > size() - majority()
        : rules().votesEndWithTheirHold() && votes.drop(member)) {
      tellGone(stripe, attempt, how);
    }
  }

  private void tellGone(Stripe stripe, Attempt attempt, How how) {
    if (!attempt.goneTold && !attempt.ended) {
      attempt.goneTold = true;
      tell(stripe, new News.Gone(attempt.name, attempt.id, how));
    }
  }

  private void tell(Stripe stripe, News news) {
    if (box.add(news) && (store.pushes() || news instanceof News.Gone)) {
      stripe.afterwards(() -> hints.accept(news));
    }
  }

  /**
   * A member no longer knows its session: the votes that hung on it are gone. With no lock held.
   */
  void lost(MemberSession member) {
    if (member.isLost()) {
      return;
    }
    member.lose();
    log.debug(
        "Session {} was lost in member {} (store={}).",
        member.id(),
        member.member.display(),
        storeName());
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        for (Attempt attempt : stripe.attempts.values()) {
          VoteSet votes = attempt.votes;
          if (votes != null && votes.has(member) && votes.isOver()) {
            tellGone(stripe, attempt, How.UNKNOWN);
          }
        }
      } finally {
        stripe.unlock();
      }
    }
  }

  // ---- Liveness ----

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    if (closed) {
      return CompletableFuture.completedFuture(new Renewal.Lost("the session was closed"));
    }
    return renewing.renew(previous, next, seen, box);
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    for (Stripe stripe : stripes) {
      stripe.lock();
      try {
        stripe.attempts.values().forEach(attempt -> attempt.ended = true);
        stripe.attempts.clear();
        stripe.past.clear();
      } finally {
        stripe.unlock();
      }
    }
    return renewing.close();
  }
}
