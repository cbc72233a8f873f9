package io.mortise.simulation.toy;

import static io.mortise.spi.Capability.PROOF;
import static io.mortise.spi.Capability.RECORD;
import static io.mortise.spi.Capability.SESSION;
import static io.mortise.spi.Capability.TOKEN;
import static io.mortise.spi.Capability.TOKEN_FLOOR;
import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
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
 *
 * @param clock the database's clock: microseconds since 1970
 */
record ToyStore(
    ToyDocuments<LockName, ToyLockDocument> locks,
    ToyDocuments<SessionId, ToySessionDocument> sessions,
    LongSupplier clock)
    implements LockStore {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "toy",
          Set.of(SESSION, PROOF, RECORD, TOKEN, TOKEN_FLOOR),
          Duration.ofSeconds(1),
          Duration.ofMillis(100),
          Duration.ZERO);

  /** For how long the document of an idle lock or an ended session stays. */
  private static final long RETENTION_MICROS = Duration.ofMinutes(10).toNanos() / 1000;

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new ToySession(spec, locks, sessions, clock);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId id) {
    long now = clock.getAsLong();
    ToySessionDocument session = sessions.change(id, found -> found.judge(now));
    return completedFuture(
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
    return completedFuture(
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
    return completedFuture(removed);
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
}
