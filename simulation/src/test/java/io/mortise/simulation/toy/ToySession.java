package io.mortise.simulation.toy;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification.Contended;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A process's session. A request changes one document, that of its lock. A session's document is
 * read and written apart from it, so neither step relies on the other.
 */
record ToySession(
    SessionSpec spec,
    ToyDocuments<LockName, ToyLockDocument> locks,
    ToyDocuments<SessionId, ToySessionDocument> sessions,
    LongSupplier clock)
    implements StoreSession {
  /** How many notifications one renewal tells. */
  private static final int PAGE = 64;

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    long now = clock.getAsLong();
    ToySessionDocument session =
        sessions.change(id(), found -> found.renew(spec, previous, next, seen, now));
    List<NumberedNotification> page =
        session.notes().stream()
            .limit(PAGE)
            .map(note -> new NumberedNotification(note.attempt().number(), note))
            .toList();
    return completedFuture(
        session.beat() == next && session.isAlive(now)
            ? new Renewal.Renewed(now, page, session.notes().size() > PAGE)
            : new Renewal.Lost("The session has ended, or another process renews it."));
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = ToyStore.PROFILE.refusal(request).orElse(null);
    sink.accept(refusal == null ? reply(request, clock.getAsLong()) : refusal);
  }

  private Reply reply(Request request, long now) {
    AttemptId attempt = request.attempt();
    if (request instanceof Request.Abandon) {
      ToyLockDocument lock = locks.change(request.name(), found -> found.abandon(attempt, now));
      sessions.change(attempt.session(), found -> found.removeNote(request.name(), attempt));
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
    // The note comes first: a hold that is marked as wanted then surely has one.
    ToyLockDocument.Hold told = locks.read(acquire.name()).untoldHold(attempt);
    if (told != null) {
      Contended note = new Contended(acquire.name(), told.attempt());
      sessions.change(told.attempt().session(), found -> found.addNote(note, now));
    }
    ToyLockDocument lock = locks.change(acquire.name(), found -> found.acquire(acquire, told, now));
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
        left.plusMillis(1));
  }

  @Override
  public CompletionStage<Void> close() {
    sessions.change(id(), ToySessionDocument::close);
    return completedFuture(null);
  }
}
