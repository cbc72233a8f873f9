package io.mortise.simulation.toy;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionNotification.Contended;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a database that has documents and compare-and-set, and nothing else: no transactions, no
 * push. It keeps one document for each lock and one for each session. A request changes one
 * document of a lock; a session's document is written apart from it, so that neither relies on the
 * other.
 *
 * <p>The database is a map in this process. It answers at once, so requests need no batches and are
 * never in doubt.
 */
final class ToyStore implements LockStore {
  /** For how long the document of an idle lock or an ended session stays. */
  private static final long RETENTION_MICROS = Duration.ofMinutes(10).toNanos() / 1000;

  /** How many notifications one renewal tells. */
  private static final int PAGE = 64;

  private static final Duration SOON = Duration.ofMillis(1);

  private static final StoreProfile PROFILE =
      new StoreProfile(
          "toy",
          Set.of(
              Capability.SESSION,
              Capability.PROOF,
              Capability.RECORD,
              Capability.TOKEN,
              Capability.TOKEN_FLOOR),
          Duration.ofSeconds(1),
          Duration.ofMillis(100),
          Duration.ZERO);

  private final ToyDocuments<LockName, ToyLockDocument> locks;
  private final ToyDocuments<SessionId, ToySessionDocument> sessions;
  private final LongSupplier clock;

  /**
   * Opens a database.
   *
   * @param clock the database's clock: microseconds since 1970
   */
  ToyStore(
      ToyDocuments<LockName, ToyLockDocument> locks,
      ToyDocuments<SessionId, ToySessionDocument> sessions,
      LongSupplier clock) {
    this.locks = locks;
    this.sessions = sessions;
    this.clock = clock;
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new ToySession(spec);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId id) {
    long now = clock.getAsLong();
    ToySessionDocument session = sessions.change(id, found -> found.judge(now));
    return CompletableFuture.completedFuture(
        session.isOver()
            ? new SessionVerdict.SessionEnded()
            : new SessionVerdict.Alive(session.beat(), session.left(now)));
  }

  @Override
  public CompletionStage<LockViewPage> inspect(LockQuery query) {
    LockName one = query.name();
    LockName after = query.cursor() == null ? null : LockName.of(query.cursor());
    List<LockView> page =
        (one == null ? locks.keysAfter(after) : List.of(one))
            .stream()
                .map(name -> view(name, locks.read(name)))
                .filter(view -> view.lastToken() > 0)
                .filter(view -> query.idle() || !view.holders().isEmpty())
                .limit(query.limit())
                .toList();
    boolean last = one != null || page.size() < query.limit();
    return CompletableFuture.completedFuture(
        new LockViewPage(page, last ? null : page.get(page.size() - 1).name().value()));
  }

  private LockView view(LockName name, ToyLockDocument lock) {
    ToyLockDocument.Hold hold = lock.hold();
    List<LockView.Participant> holders = hold == null ? List.of() : List.of(participant(hold));
    return new LockView(name, Mode.SHARERS, lock.lastToken(), Duration.ZERO, holders, List.of());
  }

  private LockView.Participant participant(ToyLockDocument.Hold hold) {
    ToySessionDocument session = sessions.read(hold.attempt().session());
    long now = clock.getAsLong();
    return new LockView.Participant(
        hold.attempt(),
        session.client(),
        hold.label(),
        Mode.SHARERS,
        hold.reply().token(),
        Duration.ofNanos((now - hold.since()) * 1000),
        session.left(now),
        null);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return CompletableFuture.failedFuture(
        new UnsupportedByStoreException("Store 'toy' cannot evict."));
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    long now = clock.getAsLong();
    int removed = sessions.changeAll(budget, session -> swept(session, now));
    removed += locks.changeAll(budget - removed, lock -> swept(lock, now));
    return CompletableFuture.completedFuture(removed);
  }

  private static ToySessionDocument swept(ToySessionDocument session, long now) {
    return now - session.ends() > RETENTION_MICROS ? ToySessionDocument.ABSENT : session.judge(now);
  }

  private ToyLockDocument swept(ToyLockDocument lock, long now) {
    ToyLockDocument.Hold hold = lock.hold();
    if (hold == null) {
      return now - lock.changed() > RETENTION_MICROS ? ToyLockDocument.ABSENT : lock;
    }
    boolean dead = sessions.read(hold.attempt().session()).isOver();
    return dead ? lock.ended(EndReason.TAKEN, now) : lock;
  }

  @Override
  public void close() {}

  private final class ToySession implements StoreSession {
    private final SessionSpec spec;

    ToySession(SessionSpec spec) {
      this.spec = spec;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      long now = clock.getAsLong();
      ToySessionDocument session =
          sessions.change(id(), found -> found.renew(spec, previous, next, seen, now));
      List<NumberedNotification> notes = session.notes();
      return CompletableFuture.completedFuture(
          session.beat() == next && session.isAlive(now)
              ? new Renewal.Renewed(
                  now, notes.subList(0, Math.min(PAGE, notes.size())), notes.size() > PAGE)
              : new Renewal.Lost("The session has ended, or another process renews it."));
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      Reply refusal = PROFILE.refusal(request).orElse(null);
      sink.accept(refusal == null ? reply(request, clock.getAsLong()) : refusal);
    }

    private Reply reply(Request request, long now) {
      AttemptId attempt = request.attempt();
      if (request instanceof Request.Abandon) {
        ToyLockDocument lock = locks.change(request.name(), found -> found.abandon(attempt, now));
        sessions.change(attempt.session(), found -> found.removeNote(attempt));
        return lock.isLastEnd(attempt)
            ? lock.lastEnd()
            : new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
      }
      // A session that ends after this line may still be granted the lock. A contender finds a dead
      // holder then, as it does after a crash.
      if (!sessions.read(id()).isAlive(now)) {
        return new Reply.Refused(
            attempt, RefusalReason.SESSION_GONE, "Session " + id() + " has ended.");
      }
      if (request instanceof Request.Acquire acquire) {
        return acquire(acquire, now);
      }
      Request.Adjust adjust = (Request.Adjust) request;
      ToyLockDocument lock = locks.change(request.name(), found -> found.adjust(adjust, now));
      return lock.isHeldBy(attempt)
          ? lock.hold().reply()
          : new Reply.Refused(attempt, RefusalReason.NOT_HELD, attempt + " does not hold.");
    }

    private Reply acquire(Request.Acquire acquire, long now) {
      AttemptId attempt = acquire.attempt();
      ToyLockDocument.Hold told = tellHolder(acquire, now);
      ToyLockDocument lock =
          locks.change(acquire.name(), found -> found.acquire(acquire, told, now));
      if (lock.isLastEnd(attempt)) {
        return new Reply.Refused(attempt, RefusalReason.ENDED, attempt + " has ended.");
      }
      ToyLockDocument.Hold holder = lock.hold();
      if (holder.attempt().equals(attempt)) {
        return holder.reply();
      }
      Duration left = sessions.read(holder.attempt().session()).left(now);
      return new Reply.Busy(
          attempt,
          new Reply.Holder(holder.attempt(), holder.reply().token(), left),
          left.compareTo(SOON) < 0 ? SOON : left);
    }

    /**
     * Leaves the first note for a holder in the way, before the hold is marked as wanted: one that
     * is marked has a note, whatever happens in between.
     */
    private ToyLockDocument.@Nullable Hold tellHolder(Request.Acquire acquire, long now) {
      ToyLockDocument lock = locks.read(acquire.name());
      ToyLockDocument.Hold hold = lock.hold();
      AttemptId attempt = acquire.attempt();
      if (hold == null
          || hold.reply().wanted()
          || lock.isHeldBy(attempt)
          || lock.isLastEnd(attempt)) {
        return null;
      }
      Contended note = new Contended(acquire.name(), hold.attempt());
      sessions.change(hold.attempt().session(), found -> found.addNote(note, now));
      return hold;
    }

    @Override
    public CompletionStage<Void> close() {
      sessions.change(id(), ToySessionDocument::close);
      return CompletableFuture.completedFuture(null);
    }
  }
}
