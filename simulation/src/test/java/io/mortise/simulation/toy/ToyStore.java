package io.mortise.simulation.toy;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.simulation.toy.ToyDocuments.Change;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
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

/**
 * Locks in a database that has documents and compare-and-set, and nothing else: no transactions, no
 * push. It keeps one document for each lock and one for each session.
 *
 * <p>The database is a map in this process. It answers at once, so requests need no batches and are
 * never in doubt.
 */
final class ToyStore implements LockStore {
  /** For how long the document of an idle lock or an ended session stays. */
  private static final long RETENTION_MICROS = Duration.ofMinutes(10).toNanos() / 1000;

  static final StoreProfile PROFILE =
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
    return new ToySession(spec, locks, sessions, clock);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return CompletableFuture.completedFuture(sessions.change(session, this::judge));
  }

  private Change<ToySessionDocument, SessionVerdict> judge(ToySessionDocument session) {
    long now = clock.getAsLong();
    return session.isAlive(now)
        ? new Change<>(session, new SessionVerdict.Alive(session.beat(), session.left(now)))
        : new Change<>(session.close(), new SessionVerdict.SessionEnded());
  }

  @Override
  public CompletionStage<LockViewPage> inspect(LockQuery query) {
    LockName one = query.name();
    LockName after = query.cursor() == null ? null : LockName.of(query.cursor());
    List<LockView> found =
        (one != null ? List.of(one) : locks.keysAfter(after))
            .stream()
                .filter(name -> isShown(locks.read(name), query.idle()))
                .limit(query.limit() + 1L)
                .map(name -> view(name, locks.read(name)))
                .toList();
    boolean last = found.size() <= query.limit();
    List<LockView> page = last ? found : found.subList(0, query.limit());
    return CompletableFuture.completedFuture(
        new LockViewPage(page, last ? null : page.get(page.size() - 1).name().value()));
  }

  private static boolean isShown(ToyLockDocument lock, boolean idle) {
    return lock.hold() != null || (idle && !lock.equals(ToyLockDocument.ABSENT));
  }

  private LockView view(LockName name, ToyLockDocument lock) {
    List<LockView.Participant> holders =
        lock.hold() == null ? List.of() : List.of(participant(lock.hold()));
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
        hold.token(),
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
    int removed = 0;
    for (SessionId session : sessions.keysAfter(null)) {
      removed += removed < budget ? sessions.change(session, this::sweep) : 0;
    }
    for (LockName name : locks.keysAfter(null)) {
      removed += removed < budget ? locks.change(name, this::sweep) : 0;
    }
    return CompletableFuture.completedFuture(removed);
  }

  private Change<ToySessionDocument, Integer> sweep(ToySessionDocument session) {
    long now = clock.getAsLong();
    if (now - session.ends() > RETENTION_MICROS) {
      return new Change<>(ToySessionDocument.ABSENT, 1);
    }
    return session.isAlive(now) || session.closed()
        ? new Change<>(session, 0)
        : new Change<>(session.close(), 1);
  }

  private Change<ToyLockDocument, Integer> sweep(ToyLockDocument lock) {
    long now = clock.getAsLong();
    if (lock.hold() == null) {
      return now - lock.changed() > RETENTION_MICROS
          ? new Change<>(ToyLockDocument.ABSENT, 1)
          : new Change<>(lock, 0);
    }
    return sessions.read(lock.hold().attempt().session()).closed()
        ? new Change<>(lock.ended(Reply.EndReason.TAKEN, now), 1)
        : new Change<>(lock, 0);
  }

  @Override
  public void close() {}
}
