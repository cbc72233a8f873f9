package io.mortise.testkit;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.PartitionedStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The link between one process and a store, which can be cut: a store that forwards requests to
 * another, or drops them. A process whose link is cut for good is dead for all others. Thread-safe;
 * closing it does not close the store. A store of several parts is cut off with all of them;
 * another store counts as one part.
 */
public final class StoreLink implements PartitionedStore {
  /** The time for which a process waits for a missing answer. */
  private static final Duration PATIENCE = Duration.ofMillis(200);

  /** The same if nothing at all can be learned. */
  private static final Duration LONG_PATIENCE = Duration.ofSeconds(3);

  private final LockStore store;
  private final StoreProfile profile;
  private final SharedLinkState line;
  private final Map<Integer, StoreLink> parts = new ConcurrentHashMap<>();

  /** State that the links to the parts of a store share. */
  private static final class SharedLinkState {
    final AtomicLong requests = new AtomicLong();
    final AtomicLong factReads = new AtomicLong();
    volatile LinkState linkState = LinkState.UP;
  }

  /** The state of a link: the fate of messages. */
  public enum LinkState {
    /** Requests and answers arrive. */
    UP,
    /** Requests are lost; the sender learns after a while that they may have arrived. */
    CUT,
    /** Like {@link #CUT}, but it takes longer than many timeouts. */
    SILENT,
    /** Requests are lost, and the sender knows at once. */
    REFUSING,
    /** Requests arrive and are executed; answers and pushes are lost. */
    ANSWERS_LOST,
    /** Requests are lost, and the sender is never told. */
    UNANSWERED,
    /** Each acquire is answered that its session is unknown, as by another server. */
    SESSION_UNKNOWN,
    /** Each acquire is answered that its attempt has ended. */
    ATTEMPT_ENDED,
    /** Each acquire finds a holder whose session has ended, and which is never removed. */
    DEAD_HOLDER
  }

  /** An intact link. */
  public StoreLink(LockStore store) {
    this(store, store.profile().maxInFlight());
  }

  /** An intact link to a store that reports this timeout. */
  public StoreLink(LockStore store, Duration timeout) {
    this(store, timeout, new SharedLinkState());
  }

  private StoreLink(LockStore store, Duration timeout, SharedLinkState line) {
    StoreProfile below = store.profile();
    this.store = store;
    this.profile =
        new StoreProfile(
            below.display(), below.capabilities(), timeout, below.minTtl(), below.expiryLag());
    this.line = line;
  }

  /** Changes the fate of messages from now on, and of outstanding answers. */
  public void set(LinkState next) {
    line.linkState = next;
  }

  /** The number of requests sent so far, without renewals and questions. */
  public long requests() {
    return line.requests.get();
  }

  /** The number of reads of facts sent so far. */
  public long factReads() {
    return line.factReads.get();
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public int partitions() {
    return store instanceof PartitionedStore whole ? whole.partitions() : 1;
  }

  @Override
  public int partitionOf(LockName name) {
    return store instanceof PartitionedStore whole ? whole.partitionOf(name) : 0;
  }

  @Override
  public LockStore partition(int number) {
    return store instanceof PartitionedStore whole
        ? parts.computeIfAbsent(
            number, one -> new StoreLink(whole.partition(one), profile.maxInFlight(), line))
        : this;
  }

  @Override
  public @Nullable ServerIncarnation incarnation() {
    return store.incarnation();
  }

  @Override
  public void checkTtl(Duration ttl) {
    store.checkTtl(ttl);
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new LinkSession(
        store.open(
            spec,
            hint -> {
              if (passes()) {
                hints.accept(hint);
              }
            }));
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    if (line.linkState == LinkState.DEAD_HOLDER) {
      return CompletableFuture.completedFuture(new SessionVerdict.SessionEnded());
    }
    return stage(() -> store.judge(session), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return stage(() -> store.inspect(query), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return stage(() -> store.sessions(cursor, limit), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return stage(() -> store.evict(name, attempt, how), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return stage(() -> store.reopen(name), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    line.factReads.incrementAndGet();
    return stage(() -> store.readFact(name), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return stage(
        () -> store.replaceFact(name, version, content, keep), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return stage(() -> store.sweep(budget), CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return stage(store::claimSweep, CompletableFuture::failedFuture);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return stage(store::examine, CompletableFuture::failedFuture);
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    store.helpWhileWaiting(done, longest);
  }

  @Override
  public void close() {}

  /** Whether answers and pushes arrive. */
  private boolean passes() {
    return switch (line.linkState) {
      case UP, SESSION_UNKNOWN, ATTEMPT_ENDED, DEAD_HOLDER -> true;
      default -> false;
    };
  }

  /** The failure of an acquire that must not be sent; null if it is sent. */
  private static @Nullable Reply instead(LinkState linkState, Request request) {
    if (!(request instanceof Request.Acquire acquire)) {
      return null;
    }
    AttemptId attempt = request.attempt();
    Reply.Holder dead =
        new Reply.Holder(new AttemptId(new SessionId("dead-session"), 1), 0, Duration.ZERO);
    return switch (linkState) {
      case SESSION_UNKNOWN ->
          new Reply.Refused(attempt, Reply.RefusalReason.SESSION_GONE, "told by the test");
      case ATTEMPT_ENDED ->
          new Reply.Refused(attempt, Reply.RefusalReason.ENDED, "told by the test");
      case DEAD_HOLDER ->
          acquire.queue()
              ? new Reply.Queued(attempt, 1, dead, Duration.ofMillis(1))
              : new Reply.Busy(attempt, dead, Duration.ofMillis(1));
      default -> null;
    };
  }

  private static Executor later(LinkState linkState) {
    Duration patience = linkState == LinkState.SILENT ? LONG_PATIENCE : PATIENCE;
    return CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static StoreUnavailableException silence() {
    return new StoreUnavailableException("The link to the store is cut by the test.");
  }

  private <T> CompletionStage<T> stage(
      Supplier<CompletionStage<T>> send, Function<Throwable, CompletableFuture<T>> failure) {
    LinkState sent = line.linkState;
    if (sent == LinkState.REFUSING) {
      return failure.apply(silence());
    }
    if (sent == LinkState.UNANSWERED) {
      return new CompletableFuture<>();
    }
    if (sent == LinkState.CUT || sent == LinkState.SILENT) {
      return silent(sent, failure);
    }
    long began = System.nanoTime();
    return send.get()
        .whenComplete((answer, failed) -> PauseDetector.answered(System.nanoTime() - began))
        .thenCompose(
            answer -> passes() ? CompletableFuture.completedFuture(answer) : silent(sent, failure));
  }

  private static <T> CompletableFuture<T> silent(
      LinkState linkState, Function<Throwable, CompletableFuture<T>> failure) {
    return CompletableFuture.runAsync(() -> {}, later(linkState))
        .thenCompose(ignored -> failure.apply(silence()));
  }

  private final class LinkSession implements StoreSession {
    private final StoreSession session;

    LinkSession(StoreSession session) {
      this.session = session;
    }

    @Override
    public SessionId id() {
      return session.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      submit(request, sink, session::submit);
    }

    @Override
    public void submitLater(Request request, Consumer<Reply> sink) {
      submit(request, sink, session::submitLater);
    }

    private void submit(
        Request request, Consumer<Reply> sink, BiConsumer<Request, Consumer<Reply>> send) {
      line.requests.incrementAndGet();
      long began = System.nanoTime();
      LinkState sent = line.linkState;
      Runnable lost =
          () ->
              later(sent)
                  .execute(() -> sink.accept(new Reply.Failed(request.attempt(), true, silence())));
      Reply instead = instead(sent, request);
      if (instead != null) {
        sink.accept(instead);
        return;
      }
      switch (sent) {
        case UNANSWERED -> {}
        case REFUSING -> sink.accept(new Reply.Failed(request.attempt(), false, silence()));
        case CUT, SILENT -> lost.run();
        default ->
            send.accept(
                request,
                reply -> {
                  PauseDetector.answered(System.nanoTime() - began);
                  if (passes()) {
                    sink.accept(reply);
                  } else {
                    lost.run();
                  }
                });
      }
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return stage(
          () -> session.renew(previous, next, seen),
          cause -> CompletableFuture.completedFuture(new Renewal.Unknown(cause)));
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      return stage(
          () -> session.renew(previous, next, seen, ttl),
          cause -> CompletableFuture.completedFuture(new Renewal.Unknown(cause)));
    }

    @Override
    public boolean isJudgedByBeat() {
      return session.isJudgedByBeat();
    }

    @Override
    public boolean receivesPushes() {
      return session.receivesPushes();
    }

    @Override
    public Duration callBackDelay() {
      return session.callBackDelay();
    }

    @Override
    public CompletionStage<Void> lookForCallBacks() {
      return stage(session::lookForCallBacks, CompletableFuture::failedFuture);
    }

    @Override
    public CompletionStage<Void> close() {
      return stage(session::close, CompletableFuture::failedFuture);
    }
  }
}
