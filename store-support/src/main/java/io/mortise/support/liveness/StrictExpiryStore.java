package io.mortise.support.liveness;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store whose clock expires no session. A session ends when an observer has seen its beat
 * unchanged for a whole TTL on its own monotonic clock ({@link BeatMonitor}).
 *
 * <p>The store below still guesses by its clock which sessions live. Its guess is used where an
 * error costs only time: a waiter that is passed over retries and goes to the end of the queue; a
 * requesting session that seems dead is revived, and its request is sent again. A contender that
 * meets a holder also reads the holder's beat, so that a TTL later it knows whether the beat was
 * unchanged.
 *
 * <p>At-most and at-least times would depend on the store's clock, and are refused.
 */
public final class StrictExpiryStore extends ForwardingStore {
  /** The minimum interval between two reads of one holder's beat. */
  private static final long LOOK_NANOS = 100_000_000;

  private static final int MOST_LOOKED_AT = 10_000;

  private final BeatStore beatStore;
  private final BeatMonitor<SessionId> watch;
  private final Ticker ticker;
  private final StoreProfile profile;

  /** The times of the last reads of holders' beats. */
  private final Map<SessionId, Long> looked = new ConcurrentHashMap<>();

  /** A store over one that keeps sessions beyond the end of their TTLs. */
  public StrictExpiryStore(LockStore store, BeatStore beatStore, Ticker ticker) {
    super(store);
    this.beatStore = beatStore;
    this.watch = new BeatMonitor<>(ticker);
    this.ticker = ticker;
    StoreProfile below = store.profile();
    Set<Capability> capabilities = EnumSet.copyOf(below.capabilities());
    capabilities.remove(Capability.AT_MOST);
    capabilities.remove(Capability.AT_LEAST);
    // An observer of a beat counts with one TTL, from its first reading on.
    capabilities.remove(Capability.VARIABLE_TTL);
    this.profile =
        new StoreProfile(
            below.display(), capabilities, below.maxInFlight(), below.minTtl(), below.expiryLag());
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new StrictExpirySession(super.open(spec, hints));
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return beatStore
        .read(session)
        .thenCompose(
            found -> {
              if (found.isEmpty()) {
                forget(session);
                return CompletableFuture.completedFuture(new SessionVerdict.SessionEnded());
              }
              BeatStore.SessionBeat seen = found.get();
              Duration left = watch.left(session, seen.beat(), seen.ttl());
              return left.isZero()
                  ? end(session, seen)
                  : CompletableFuture.completedFuture(new SessionVerdict.Alive(seen.beat(), left));
            });
  }

  private CompletionStage<SessionVerdict> end(SessionId session, BeatStore.SessionBeat seen) {
    return beatStore
        .end(session, seen.beat())
        .thenApply(
            ended -> {
              forget(session);
              return ended
                  ? new SessionVerdict.SessionEnded()
                  : new SessionVerdict.Alive(seen.beat(), seen.ttl());
            });
  }

  private void forget(SessionId session) {
    watch.forget(session);
    looked.remove(session);
  }

  /** Reads a holder's beat, so that it is known how long the beat has been unchanged. */
  private void look(SessionId session) {
    long now = ticker.nanos();
    Long last = looked.get(session);
    if (last != null && now - last < LOOK_NANOS) {
      return;
    }
    if (looked.size() >= MOST_LOOKED_AT) {
      looked.clear();
    }
    looked.put(session, now);
    var unused =
        beatStore
            .read(session)
            .whenComplete(
                (found, failure) -> {
                  if (failure == null && found.isPresent()) {
                    watch.left(session, found.get().beat(), found.get().ttl());
                  }
                });
  }

  /**
   * Reads the beats of sessions that no contender reads. A session read twice ends if its beat was
   * unchanged for a TTL. The store below removes its holds, and must not use its clock to decide
   * that.
   */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return beatStore
        .some(budget)
        .thenCompose(this::endThoseThatStoodStill)
        .thenCompose(
            ended ->
                ended >= budget
                    ? CompletableFuture.completedFuture(ended)
                    : super.sweep(budget - ended).thenApply(removed -> ended + removed));
  }

  private CompletionStage<Integer> endThoseThatStoodStill(List<SessionId> sessions) {
    CompletionStage<Integer> ended = CompletableFuture.completedFuture(0);
    for (SessionId session : sessions) {
      ended =
          ended.thenCompose(
              before ->
                  judge(session)
                      .thenApply(
                          verdict ->
                              verdict instanceof SessionVerdict.SessionEnded
                                  ? before + 1
                                  : before));
    }
    return ended;
  }

  @Override
  public String toString() {
    return profile.display();
  }

  private final class StrictExpirySession extends ForwardingSession {
    StrictExpirySession(StoreSession session) {
      super(session);
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      if (!refused(request, sink)) {
        super.submit(request, reply -> answered(request, sink, reply));
      }
    }

    @Override
    public void submitLater(Request request, Consumer<Reply> sink) {
      if (!refused(request, sink)) {
        super.submitLater(request, reply -> answered(request, sink, reply));
      }
    }

    @Override
    public boolean isJudgedByBeat() {
      return true;
    }

    private boolean refused(Request request, Consumer<Reply> sink) {
      Reply refusal = profile.refusal(request).orElse(null);
      if (refusal != null) {
        sink.accept(refusal);
      }
      return refusal != null;
    }

    private void answered(Request request, Consumer<Reply> sink, Reply reply) {
      if (reply instanceof Reply.Refused refused
          && refused.why() == Reply.RefusalReason.SESSION_GONE) {
        revived(request, sink, refused);
      } else {
        Reply.Holder holder = holder(reply);
        if (holder != null) {
          look(holder.attempt().session());
        }
        sink.accept(
            holder != null && watch.stoodStill(holder.attempt().session())
                ? toBeJudged(reply, holder)
                : reply);
      }
    }

    /** Needed also if the store's clock was set back, and shows a dead holder as alive for long. */
    private Reply toBeJudged(Reply reply, Reply.Holder holder) {
      Reply.Holder over = new Reply.Holder(holder.attempt(), holder.token(), Duration.ZERO);
      return reply instanceof Reply.Queued queued
          ? new Reply.Queued(queued.attempt(), queued.ahead(), over, queued.retryAfter())
          : new Reply.Busy(reply.attempt(), over, ((Reply.Busy) reply).retryAfter());
    }

    private Reply.@Nullable Holder holder(Reply reply) {
      return reply instanceof Reply.Busy busy
          ? busy.holder()
          : reply instanceof Reply.Queued queued ? queued.holder() : null;
    }

    /**
     * Handles a refusal that may come from the store's clock. One revival is enough: then the
     * session is as alive as possible.
     */
    private void revived(Request request, Consumer<Reply> sink, Reply.Refused refused) {
      var unused =
          beatStore
              .revive(id())
              .whenComplete(
                  (alive, failure) -> {
                    if (failure != null) {
                      sink.accept(new Reply.Failed(request.attempt(), false, failure));
                    } else if (alive) {
                      super.submit(request, sink);
                    } else {
                      sink.accept(refused);
                    }
                  });
    }
  }
}
