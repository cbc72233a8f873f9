package io.mortise.quorum;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.quorum.QuorumAttempt.MemberHold;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session made of one session in each member.
 *
 * <p><b>A lock is held</b> by the votes of the members that granted it, each of which depends on
 * the session there. If a member has lost its session (it expired, the member forgot it), its votes
 * are gone for good, though the session goes on with a new one in that member. A majority of live
 * sessions proves nothing about a lock that another majority had granted
 * (invariants.md#votes-end-with-session).
 *
 * <p><b>The whole session</b> is renewed when a majority of members renewed theirs, and lost when a
 * majority has lost theirs.
 *
 * <p><b>Requests</b> are rounds, see {@link QuorumAcquire}, {@link QuorumRelease} and {@link
 * QuorumAdjust}. An attempt's state is kept from its first request to its abandon, or until it
 * fails: the engine does not abandon an attempt that was only tried. See {@link #discardAttempt}.
 */
final class QuorumSession implements StoreSession {
  private static final Logger log = LoggerFactory.getLogger(QuorumSession.class);
  private static final int STRIPES = 64;

  private final QuorumLockStore store;
  private final SessionSpec spec;
  private final Consumer<SessionNotification> hints;
  private final long timeoutNanos;
  private final QuorumStripe[] quorumStripes = new QuorumStripe[STRIPES];
  private final QuorumRelease quorumRelease;
  private final QuorumNotificationBuffer box = new QuorumNotificationBuffer();
  private final QuorumRenewal renewing;
  private volatile boolean closed;
  private volatile Runnable doubt = () -> {};

  QuorumSession(QuorumLockStore store, SessionSpec spec, Consumer<SessionNotification> hints) {
    this.store = store;
    this.spec = spec;
    this.hints = hints;
    // Far below the TTL, or one silent member would cost the others their time.
    this.timeoutNanos = Math.min(store.timeoutNanos(), spec.ttl().toNanos() / 4);
    for (int i = 0; i < STRIPES; i++) {
      quorumStripes[i] = new QuorumStripe();
    }
    this.quorumRelease = new QuorumRelease(this);
    this.renewing = new QuorumRenewal(this, store, spec);
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  // ---- Queries of rounds ----

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

  /** A hold that was renewed after this moment stays valid long enough for a member to join. */
  long latestValid() {
    return now() - spec.ttl().toNanos() / 2;
  }

  QuorumRelease releasing() {
    return quorumRelease;
  }

  QuorumStripe stripe(LockName name) {
    return quorumStripes[(name.hashCode() * 0x9E3779B9) >>> 26];
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
   * Whether a member is known to remember everything that may still be relied on. Before it has
   * answered a renewal of its present session, its incarnation is unknown: it may have forgotten
   * all just now, and the answer that said so was lost.
   */
  boolean mayVote(MemberSession member) {
    boolean told = member.isOpen() || !renewing.hasBegun() || !store.rules().waitsForIncarnation();
    return told && store.mayVote(member.member);
  }

  /** A member's server may be another one: all are renewed at once. */
  void renewNow() {
    doubt.run();
  }

  @Override
  public void onSuspectedRestart(Runnable renewNow) {
    doubt = renewNow;
  }

  /** The id of an attempt in a member where it is not known to exist. */
  AttemptId idIn(MemberSession member, AttemptId id, @Nullable QuorumAttempt known) {
    return id.session().equals(spec.id())
        ? MemberIds.attempt(member.id(), id.number(), known == null ? 0 : known.ballot)
        : id;
  }

  /** A member has refused to continue the session. */
  Reply refused(AttemptId id) {
    return new Reply.Refused(
        id, RefusalReason.SESSION_GONE, "Session '" + spec.id() + "' is not this process's.");
  }

  Reply notSentReply(int member, AttemptId id) {
    String why;
    if (isKeptOut(member)) {
      why = store.quarantined(store.members().get(member));
    } else {
      why = usable(member) == null ? "not reached yet" : "no vote before its next answer";
    }
    return failed(member, id, false, why);
  }

  /** Whether a member has no vote because it may have forgotten. */
  private boolean isKeptOut(int member) {
    return !store.mayVote(store.members().get(member));
  }

  Reply silence(int member, AttemptId id) {
    return failed(
        member,
        id,
        true,
        "no answer within " + DurationText.format(Duration.ofNanos(timeoutNanos)));
  }

  /** The failure of a member, which begins with its name. */
  Reply failed(int member, AttemptId id, boolean mayHaveRun, String why) {
    return new Reply.Failed(
        id, mayHaveRun, new StoreUnavailableException(display(member) + ": " + why + "."));
  }

  /** Schedules a task for the end of the time for answers; returns its cancellation. */
  Runnable later(Runnable task) {
    return store.later(timeoutNanos, task);
  }

  // ---- Requests ----

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = store.profile().refusal(request).orElse(null);
    boolean over = closed || (renewing.isOver() && !(request instanceof Request.Abandon));
    if (refusal == null && over) {
      refusal = Refusals.sessionGone(request.attempt());
    }
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    QuorumStripe quorumStripe = stripe(request.name());
    quorumStripe.lock();
    try {
      if (request instanceof Request.Acquire acquire) {
        acquire(quorumStripe, acquire, sink);
      } else if (request instanceof Request.Abandon abandon) {
        quorumRelease.begin(quorumStripe, abandon, forget(quorumStripe, abandon.attempt()), sink);
      } else if (request instanceof Request.Adjust adjust) {
        new QuorumAdjust(this, adjust, known(quorumStripe, adjust.attempt()), sink).begin();
      }
    } finally {
      quorumStripe.unlock();
    }
  }

  private void acquire(QuorumStripe quorumStripe, Request.Acquire request, Consumer<Reply> sink) {
    long number = request.attempt().number();
    QuorumAttempt quorumAttempt = known(quorumStripe, request.attempt());
    QuorumAttempt past = quorumStripe.past.remove(number);
    if (quorumAttempt == null && past == null && quorumStripe.mayHaveForgotten(number)) {
      // It may have had several names in the members, whose ends are still in flight.
      quorumStripe.afterUnlock(() -> sink.accept(forgotten(request.attempt())));
      return;
    }
    if (quorumAttempt == null) {
      quorumAttempt = new QuorumAttempt(request, size());
      // Requested again after its end: under the name whose end the members know.
      quorumAttempt.ballot = past == null ? 0 : past.ballot;
    }
    quorumStripe.attempts.put(number, quorumAttempt);
    QuorumAcquire before = quorumAttempt.round;
    if (before != null && !before.isOver()) {
      before.join(sink);
      return;
    }
    QuorumAcquire round = new QuorumAcquire(this, quorumAttempt, request, sink);
    quorumAttempt.round = round;
    round.begin();
  }

  private static Reply forgotten(AttemptId id) {
    return new Reply.Refused(
        id, RefusalReason.ENDED, "The attempt was given up, and too many others since.");
  }

  private @Nullable QuorumAttempt known(QuorumStripe quorumStripe, AttemptId id) {
    return id.session().equals(spec.id()) ? quorumStripe.known(id.number()) : null;
  }

  /** Its end begins, or is requested again. */
  private @Nullable QuorumAttempt forget(QuorumStripe quorumStripe, AttemptId id) {
    QuorumAttempt quorumAttempt = known(quorumStripe, id);
    if (quorumAttempt == null) {
      return id.session().equals(spec.id()) ? quorumStripe.past.get(id.number()) : null;
    }
    quorumStripe.attempts.remove(id.number());
    if (quorumAttempt.isRenamed()) {
      quorumStripe.past.put(id.number(), quorumAttempt);
    }
    quorumAttempt.ended = true;
    quorumAttempt.round = null;
    if (quorumAttempt.votes != null) {
      quorumAttempt.votes.end();
    }
    box.forget(id);
    return quorumAttempt;
  }

  /**
   * A round has ended without a grant, and all grants were released. There may be no retry and no
   * request for its end. Under the stripe's lock.
   *
   * @param isBlank whether a retry is equivalent to a first request
   */
  void discardAttempt(QuorumStripe quorumStripe, QuorumAttempt quorumAttempt, boolean isBlank) {
    // Dropped, to let the caller be collected.
    quorumAttempt.round = null;
    long number = quorumAttempt.id.number();
    if (quorumStripe.attempts.remove(number, quorumAttempt) && !isBlank) {
      quorumStripe.past.put(number, quorumAttempt);
    }
  }

  /**
   * How many attempts and ends are kept for later events: none when nothing is held, requested or
   * owed. Excludes the few in {@code past}. For tests of leaks.
   */
  int remembered() {
    int sum = quorumRelease.owed();
    for (QuorumStripe quorumStripe : quorumStripes) {
      quorumStripe.lock();
      try {
        sum += quorumStripe.attempts.size();
      } finally {
        quorumStripe.unlock();
      }
    }
    return sum;
  }

  // ---- Notifications of members ----

  /** A member has sent a notification, by a push or in a renewal. Called without a lock. */
  void heard(MemberSession member, SessionNotification sessionNotification) {
    if (!renewing.hasBegun()) {
      // Another object of the same session continues it.
      return;
    }
    int index = member.member.index;
    QuorumStripe quorumStripe = stripe(sessionNotification.name());
    quorumStripe.lock();
    try {
      QuorumAttempt quorumAttempt =
          quorumStripe.known(MemberIds.number(sessionNotification.attempt()));
      MemberHold memberHold = quorumAttempt == null ? null : quorumAttempt.memberHolds[index];
      boolean ours = memberHold != null && memberHold.id().equals(sessionNotification.attempt());
      if (quorumAttempt == null || !ours) {
        if (quorumAttempt == null
            && sessionNotification instanceof SessionNotification.HoldEnded holdEnded) {
          // From a retried attempt, perhaps ended too late.
          AttemptId id = new AttemptId(spec.id(), MemberIds.number(sessionNotification.attempt()));
          tell(
              quorumStripe,
              new SessionNotification.HoldEnded(sessionNotification.name(), id, holdEnded.how()));
        } else if (sessionNotification instanceof SessionNotification.Contended) {
          quorumRelease.releaseOrphan(
              quorumStripe, sessionNotification.name(), member, sessionNotification.attempt());
        }
      } else if (sessionNotification instanceof SessionNotification.Contended) {
        wanted(quorumStripe, quorumAttempt);
      } else if (sessionNotification instanceof SessionNotification.HoldEnded holdEnded) {
        gone(quorumStripe, quorumAttempt, index, holdEnded.how());
      }
    } finally {
      quorumStripe.unlock();
    }
  }

  private void wanted(QuorumStripe quorumStripe, QuorumAttempt quorumAttempt) {
    if (!quorumAttempt.wantedTold && quorumAttempt.isGranted()) {
      quorumAttempt.wantedTold = true;
      tell(quorumStripe, new SessionNotification.Contended(quorumAttempt.name, quorumAttempt.id));
    }
    quorumAttempt.wanted = true;
  }

  private void gone(
      QuorumStripe quorumStripe, QuorumAttempt quorumAttempt, int member, EndReason endReason) {
    VoteSet votes = quorumAttempt.votes;
    quorumAttempt.gone[member] = true;
    int ended = 0;
    for (boolean there : quorumAttempt.gone) {
      ended += there ? 1 : 0;
    }
    if (votes == null
        ? ended > size() - majority()
        : rules().votesEndWithTheirHold() && votes.drop(member)) {
      tellGone(quorumStripe, quorumAttempt, endReason);
    }
  }

  private void tellGone(
      QuorumStripe quorumStripe, QuorumAttempt quorumAttempt, EndReason endReason) {
    if (!quorumAttempt.goneTold && !quorumAttempt.ended) {
      quorumAttempt.goneTold = true;
      tell(
          quorumStripe,
          new SessionNotification.HoldEnded(quorumAttempt.name, quorumAttempt.id, endReason));
    }
  }

  private void tell(QuorumStripe quorumStripe, SessionNotification sessionNotification) {
    if (box.add(sessionNotification)
        && (store.pushes() || sessionNotification instanceof SessionNotification.HoldEnded)) {
      quorumStripe.afterUnlock(() -> hints.accept(sessionNotification));
    }
  }

  /** A member has lost its session: the votes that depend on it are gone. Called without a lock. */
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
    for (QuorumStripe quorumStripe : quorumStripes) {
      quorumStripe.lock();
      try {
        for (QuorumAttempt quorumAttempt : quorumStripe.attempts.values()) {
          VoteSet votes = quorumAttempt.votes;
          if (votes != null && votes.has(member) && votes.isOver()) {
            tellGone(quorumStripe, quorumAttempt, EndReason.UNKNOWN);
          }
        }
      } finally {
        quorumStripe.unlock();
      }
    }
  }

  // ---- Liveness ----

  @Override
  public boolean isJudgedByBeat() {
    return renewing.isJudgedByBeat();
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    if (closed) {
      return CompletableFuture.completedFuture(Refusals.SESSION_CLOSED);
    }
    return renewing.renew(previous, next, seen, box);
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    for (QuorumStripe quorumStripe : quorumStripes) {
      quorumStripe.lock();
      try {
        quorumStripe.attempts.values().forEach(quorumAttempt -> quorumAttempt.ended = true);
        quorumStripe.attempts.clear();
        quorumStripe.past.clear();
      } finally {
        quorumStripe.unlock();
      }
    }
    return renewing.close();
  }
}
