package io.mortise.simulation.toy;

import io.mortise.LockName;
import io.mortise.simulation.toy.ToyDocuments.Change;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification.Contended;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A process's session. Each request changes one document of a lock. Whatever else it writes does no
 * harm if the rest never happens, because documents cannot be changed together.
 */
final class ToySession implements StoreSession {
  /** How many notifications one renewal tells. */
  private static final int PAGE = 64;

  private static final Duration SOON = Duration.ofMillis(1);

  private final SessionSpec spec;
  private final ToyDocuments<LockName, ToyLockDocument> locks;
  private final ToyDocuments<SessionId, ToySessionDocument> sessions;
  private final LongSupplier clock;

  ToySession(
      SessionSpec spec,
      ToyDocuments<LockName, ToyLockDocument> locks,
      ToyDocuments<SessionId, ToySessionDocument> sessions,
      LongSupplier clock) {
    this.spec = spec;
    this.locks = locks;
    this.sessions = sessions;
    this.clock = clock;
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return CompletableFuture.completedFuture(
        sessions.change(id(), session -> renew(session, previous, next, seen)));
  }

  private Change<ToySessionDocument, Renewal> renew(
      ToySessionDocument found, long previous, long next, List<Long> seen) {
    long now = clock.getAsLong();
    boolean first = found.equals(ToySessionDocument.ABSENT) && previous == 0;
    ToySessionDocument session = first ? ToySessionDocument.of(spec, now) : found;
    if (!session.isAlive(now) || (session.beat() != previous && session.beat() != next)) {
      return new Change<>(found, new Renewal.Lost("It has ended, or another process renews it."));
    }
    ToySessionDocument renewed = session.renewed(spec, next, seen, now);
    List<NumberedNotification> notes = renewed.notes();
    List<NumberedNotification> page = notes.subList(0, Math.min(PAGE, notes.size()));
    return new Change<>(renewed, new Renewal.Renewed(now, page, notes.size() > PAGE));
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    sink.accept(
        ToyStore.PROFILE.refusal(request).map(Reply.class::cast).orElseGet(() -> answer(request)));
  }

  private Reply answer(Request request) {
    AttemptId attempt = request.attempt();
    long now = clock.getAsLong();
    if (request instanceof Request.Abandon) {
      Reply reply = locks.change(request.name(), lock -> lock.abandon(attempt, now));
      forgetNotes(attempt);
      return reply;
    }
    // A session that ends after this may still be granted the lock. It is dead then, and the next
    // contender proves it.
    if (!sessions.read(id()).isAlive(now)) {
      return new Reply.Refused(
          attempt, Reply.RefusalReason.SESSION_GONE, "Session " + id() + " has ended.");
    }
    return request instanceof Request.Acquire acquire
        ? acquire(acquire, now)
        : locks.change(request.name(), lock -> lock.adjust((Request.Adjust) request, now));
  }

  private Reply acquire(Request.Acquire acquire, long now) {
    ToyLockDocument.Hold told = locks.read(acquire.name()).inTheWayOf(acquire);
    if (told != null && !told.wanted()) {
      // Before the hold is marked as wanted, so that a marked one has surely been told.
      leaveNote(new Contended(acquire.name(), told.attempt()), now);
    }
    return locks.change(
        acquire.name(),
        lock -> {
          ToyLockDocument.Hold holder = lock.inTheWayOf(acquire);
          return holder == null
              ? lock.acquire(acquire, now)
              : new Change<>(
                  holder.equals(told) ? lock.wanted() : lock, busy(acquire, holder, now));
        });
  }

  private Reply busy(Request.Acquire acquire, ToyLockDocument.Hold holder, long now) {
    Duration left = sessions.read(holder.attempt().session()).left(now);
    return new Reply.Busy(
        acquire.attempt(),
        new Reply.Holder(holder.attempt(), holder.token(), left),
        left.compareTo(SOON) < 0 ? SOON : left);
  }

  private void leaveNote(Contended note, long now) {
    sessions.change(
        note.attempt().session(), session -> new Change<>(session.with(note, now), true));
  }

  private void forgetNotes(AttemptId attempt) {
    sessions.change(
        attempt.session(), session -> new Change<>(session.withoutNotesOf(attempt), true));
  }

  @Override
  public CompletionStage<Void> close() {
    sessions.change(id(), session -> new Change<>(session.close(), true));
    return CompletableFuture.completedFuture(null);
  }
}
