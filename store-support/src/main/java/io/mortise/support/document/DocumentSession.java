package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.internal.queue.KeyedBatcher;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Renewal.NumberedNotification;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.internal.session.Refusals;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.SessionDocument;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A session whose document is renewed independently of the documents of locks. Thread-safe. */
final class DocumentSession implements StoreSession {
  private static final Logger log = LoggerFactory.getLogger(DocumentSession.class);

  private final DocumentStore store;
  private final SessionDocuments renewals;
  private final SessionSpec spec;
  private final Consumer<SessionNotification> hints;
  private final KeyedBatcher<LockName, Request, Reply> requests;

  private final AtomicBoolean watched = new AtomicBoolean();

  /** The beat of the renewal sent last. */
  private volatile long latestBeat;

  private volatile boolean closed;
  private volatile Runnable endWatch = () -> {};

  /** The greatest number of a pushed notification. */
  private final AtomicLong pushed = new AtomicLong();

  DocumentSession(
      DocumentStore store,
      SessionDocuments renewals,
      SessionSpec spec,
      Consumer<SessionNotification> hints) {
    this.store = store;
    this.renewals = renewals;
    this.spec = spec;
    this.hints = hints;
    this.requests =
        new KeyedBatcher<>(
            request -> request,
            (name, open) -> store.requests(name, spec.id(), open),
            DocumentUpdater::isTooLarge);
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    if (closed) {
      sink.accept(Refusals.sessionClosed(request.attempt()));
      return;
    }
    Reply refusal = store.profile().refusal(request).orElse(null);
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    CompletableFuture<Reply> outcome = new CompletableFuture<>();
    var told = outcome.whenComplete((reply, failure) -> tell(request, sink, reply, failure));
    assert told != null;
    if (store.rules().keepsOrderOfRequests()) {
      requests.add(request.name(), request, outcome);
    } else {
      CompletionStages.copy(
          CompletionStages.start(
                  () -> store.requests(request.name(), spec.id(), () -> List.of(request)))
              .thenApply(replies -> replies.get(0)),
          outcome);
    }
  }

  private static void tell(
      Request request, Consumer<Reply> sink, @Nullable Reply reply, @Nullable Throwable failure) {
    try {
      // A write without an answer may have been executed, and so may an earlier note.
      sink.accept(
          reply == null
              ? new Reply.Failed(request.attempt(), true, CompletionStages.cause(failure))
              : reply);
    } catch (RuntimeException | Error e) {
      log.error("What follows from a reply about lock '{}' could not be done.", request.name(), e);
    }
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return renew(previous, next, seen, spec.ttl());
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    if (closed) {
      return CompletableFuture.completedFuture(Refusals.SESSION_CLOSED);
    }
    latestBeat = next;
    return CompletionStages.start(
            () -> {
              watch();
              OwnRenewals.SentRenewal sent = store.ownRenewals().sent(id(), ttl);
              return update(previous, next, seen, ttl)
                  .thenApply(sent::answered)
                  .thenCompose(this::endIfClosed);
            })
        .exceptionally(failure -> new Renewal.Unknown(CompletionStages.cause(failure)));
  }

  /**
   * Ends the session again after a close that found nothing: the first renewal creates the
   * document, and was still in flight. Otherwise no process would renew or end that document.
   */
  private CompletionStage<Renewal> endIfClosed(Renewal renewal) {
    if (!closed || !(renewal instanceof Renewal.Renewed)) {
      return CompletableFuture.completedFuture(renewal);
    }
    store.ownRenewals().forget(id());
    return renewals.close(id()).handle((ended, failure) -> Refusals.SESSION_CLOSED);
  }

  private CompletionStage<Renewal> update(long previous, long next, List<Long> seen, Duration ttl) {
    return renewals.updateRemembered(
        id(),
        (found, document) -> {
          if (closed) {
            // The renewal was sent before the session was removed, and must not create it again.
            return SessionDocuments.unchanged(Refusals.SESSION_CLOSED);
          }
          long now = store.micros();
          boolean overdue = found != null && found.isOverdue(now);
          if (overdue || (found == null && previous != 0)) {
            return SessionDocuments.unchanged(Refusals.SESSION_EXPIRED);
          }
          if (found != null && next != latestBeat && found.beat() == latestBeat) {
            // This process's own next renewal overtook it, on another connection.
            return SessionDocuments.unchanged(renewals.told(found.renewed(now)));
          }
          SessionDocument session =
              found == null ? renewals.create(spec, ttl, document, now) : found;
          Renewal renewal = renewals.told(session.renew(previous, next, seen, ttl, now));
          return SessionDocuments.changed(session, renewal instanceof Renewal.Renewed, renewal);
        });
  }

  private void watch() {
    if (store.profile().can(Capability.PUSH) && watched.compareAndSet(false, true)) {
      try {
        endWatch = renewals.watch(id(), this::changed);
      } catch (RuntimeException | Error e) {
        watched.set(false);
        throw e;
      }
      if (closed) {
        // A close meanwhile may have found no watch to end. Ending a watch twice does no harm.
        endWatch.run();
      }
    }
  }

  @Override
  public Duration callBackDelay() {
    return store.callBackDelay();
  }

  @Override
  public CompletionStage<Void> lookForCallBacks() {
    return closed ? CompletableFuture.completedFuture(null) : look();
  }

  private CompletionStage<Void> look() {
    return renewals.read(id()).thenAccept(session -> session.ifPresent(this::push));
  }

  /** A change of the document, with its text if the server has told it. */
  private void changed(@Nullable VersionedText found) {
    if (found == null) {
      var unused = look();
      return;
    }
    SessionDocument session;
    try {
      session = DocumentCodec.decodeSession(SessionDocuments.key(id()), found.text());
    } catch (StoreUnfitException e) {
      // The next renewal fails likewise, and tells it.
      return;
    }
    if (session != null) {
      store.told(id(), found);
      push(session);
    }
  }

  /** Pushes the new notifications of the document. Two concurrent pushes may both deliver one. */
  private void push(SessionDocument session) {
    long before = pushed.get();
    session.notifications().stream().filter(item -> item.id() > before).forEach(this::push);
  }

  private void push(NumberedNotification item) {
    pushed.accumulateAndGet(item.id(), Math::max);
    SessionNotification note = item.notification();
    if (note instanceof SessionNotification.Contended
        || (note instanceof SessionNotification.HoldGranted granted && granted.wanted())) {
      store.wanted(note.name(), note.attempt());
    }
    hints.accept(note);
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    store.ownRenewals().forget(id());
    return CompletionStages.start(
            () -> {
              endWatch.run();
              return renewals.close(id());
            })
        .handle((done, failure) -> null);
  }
}
