package io.mortise.support.document;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.annotation.Beta;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.SessionDocuments.KnownSessions;
import io.mortise.support.document.SessionDocuments.SessionReader;
import io.mortise.support.document.VersionedDocuments.ListedText;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.table.LockDocument;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.SessionDocument;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A store over a server that can replace one document at a time by its version; it needs no more.
 * It keeps a document for each lock, each session and each fact. This class decides on requests by
 * the rules of the in-memory store; an author of a store implements {@link VersionedDocuments}.
 *
 * <p><b>Steps.</b> A request reads the lock's document and the sessions that concern it, computes
 * the next document, and writes it by compare-and-set. If another process has written meanwhile,
 * the step is repeated. A lock that this process used last is not read: the write compares the
 * version.
 *
 * <p><b>Two documents need not change together.</b> A server that can write several at a time
 * writes a lock with the notes about it, and a long queue in two documents. Elsewhere the writes of
 * a step are ordered so that the first ones do no harm alone. A note to a holder that its lock is
 * wanted, or that it was evicted, is left before the lock's document says so; a step that stops in
 * between is repeated, and leaves the same note. A session that ends after it was read may still be
 * granted the lock. A contender then finds a dead holder, as after a crash. The note of a hand-off
 * is left after the lock was written; a waiter that misses it polls.
 *
 * <p><b>Clockless servers.</b> Some servers replace documents and have no clock. For those {@link
 * #clockless} ends a session when a process has seen no renewal of it for a whole TTL, on the
 * process's own monotonic clock, and has written that end over the version that it read. Such a
 * server may also execute a write long after its caller gave it up. That write compares the version
 * too, and each end of an attempt writes the lock's document, so an earlier acquire can never be
 * executed after it. At-least times are counted likewise: the record says who keeps the lock shut
 * and for how long, and a process that has known that for the whole time opens the lock, over the
 * version that it read. For a process that sees it late, the lock is shut for up to the whole time
 * once more.
 *
 * <p>Facts expire there by the time of day of the hosts. The lock of a once-only task does not
 * depend on it, but the time for which its result is remembered does.
 *
 * <p>Thread-safe.
 */
@Beta
public final class DocumentStore implements LockStore {
  /** The capabilities of each such store, without {@link Capability#PUSH}, which needs watches. */
  public static final Set<Capability> CAPABILITIES =
      Set.of(
          Capability.SESSION,
          Capability.QUEUE,
          Capability.SHARED,
          Capability.PERMITS,
          Capability.AT_MOST,
          Capability.AT_LEAST,
          Capability.TOKEN,
          Capability.TOKEN_FLOOR,
          Capability.DOWNGRADE,
          Capability.EVICT,
          Capability.CALL_BACK,
          Capability.VARIABLE_TTL,
          Capability.PROOF,
          Capability.RECORD,
          Capability.FACTS);

  /** The capabilities of a {@linkplain #clockless clockless} store. */
  public static final Set<Capability> CAPABILITIES_WITHOUT_CLOCK =
      CAPABILITIES.stream()
          .filter(capability -> capability != Capability.AT_MOST)
          .collect(Collectors.toUnmodifiableSet());

  /**
   * The longest pause between two looks for call-backs while grants are idle, where they are not
   * pushed.
   */
  private static final Duration CALL_BACK_DELAY = Duration.ofMillis(100);

  /** Renewals are sent each third of a TTL, and take some milliseconds. */
  private static final Duration LEAST_TTL = Duration.ofMillis(500);

  /** An observer counts by a clock that may run at another rate. */
  private static final Duration EXPIRY_LAG = Duration.ofMillis(10);

  /** A waiter queues within milliseconds of its note, or has given up. */
  private static final int LOOKS = 3;

  /** A crowd that wants hundreds of locks of this process is not worth as many reads. */
  private static final int MOST_LOOKS = 8;

  private final StoreProfile profile;
  private final VersionedDocuments documents;
  private final LongSupplier micros;
  private final LockUpdater locks;
  private final SessionDocuments sessions;
  private final SessionDocuments renewals;
  private final FactDocuments facts;
  private final OwnRenewals ownRenewals;
  private final DocumentSweeper sweeper;

  /** Looks in flight at locks that this process holds. */
  private final Map<LockName, CompletableFuture<Boolean>> looks = new ConcurrentHashMap<>();

  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * A store over the documents of one namespace.
   *
   * @param profile the store's profile; its capabilities are {@link #CAPABILITIES}, with or without
   *     {@link Capability#PUSH}
   * @param documents the server's documents
   * @param renewals the same documents, on a connection of its own that no backlog of requests
   *     delays; may be the same object if the server is in this process. Both are closed together
   *     with the store
   * @throws IllegalArgumentException if the capabilities are different
   * @throws UnsupportedOperationException if the documents have no clock
   */
  public DocumentStore(
      StoreProfile profile, VersionedDocuments documents, VersionedDocuments renewals) {
    this(
        profile,
        documents,
        renewals,
        null,
        documents::micros,
        documents::micros,
        FactDocuments.byServer(documents),
        DocumentRules.ALL);
    // Otherwise clockless documents would look like an unavailable server.
    long unused = documents.micros();
  }

  /**
   * A store with or without a server's clock.
   *
   * @param observer judges sessions; null to judge them by the server's clock
   * @param micros the store's time: the server's, or {@link VersionedDocuments#timeOfDay}
   * @param uptime microseconds of a clock that never goes back: the server's, or that of this
   *     process including the time for which its host was suspended
   */
  DocumentStore(
      StoreProfile profile,
      VersionedDocuments documents,
      VersionedDocuments renewals,
      @Nullable ClocklessExpiry observer,
      LongSupplier micros,
      LongSupplier uptime,
      FactDocuments facts,
      DocumentRules rules) {
    Set<Capability> expected = observer == null ? CAPABILITIES : CAPABILITIES_WITHOUT_CLOCK;
    EnumSet<Capability> besides = EnumSet.copyOf(profile.capabilities());
    besides.remove(Capability.PUSH);
    if (!besides.equals(expected)) {
      throw new IllegalArgumentException(
          "Store '%s' declares %s. A store of documents has %s, and PUSH if it has watches."
              .formatted(profile.display(), profile.capabilities(), expected));
    }
    this.profile = profile;
    this.documents = documents;
    this.micros = micros;
    this.sessions = new SessionDocuments(new DocumentUpdater(documents, micros, rules), observer);
    this.locks = new LockUpdater(sessions);
    this.facts = facts;
    this.sweeper = new DocumentSweeper(locks, facts, uptime);
    this.ownRenewals = new OwnRenewals(uptime);
    this.renewals = new SessionDocuments(sessions.updater().forRenewals(renewals), observer);
  }

  /**
   * A store over the documents of a clockless server. There a version is a decimal number, which
   * each write of the document raises, also its removal; an absent document has a version too, see
   * {@link VersionedDocuments.VersionedText}.
   *
   * @param profile the store's profile; its capabilities are {@link #CAPABILITIES_WITHOUT_CLOCK},
   *     with or without {@link Capability#PUSH}
   * @param documents as in the constructor
   * @param renewals as in the constructor
   * @param ticker this process's monotonic clock
   * @param wallClock this host's time of day, by which facts expire. It may be adjusted. If it is
   *     ahead of the clock of a fact's writer, this host forgets the fact earlier by the
   *     difference. If it is ahead by more than the time to keep it plus a day, this host removes
   *     the fact for all. Displayed ages and the removal of idle records use its time when the
   *     store was opened. No hold depends on it
   * @throws IllegalArgumentException if the capabilities are different
   */
  public static DocumentStore clockless(
      StoreProfile profile,
      VersionedDocuments documents,
      VersionedDocuments renewals,
      Ticker ticker,
      InstantSource wallClock) {
    LongSupplier timeOfDay = VersionedDocuments.timeOfDay(ticker, wallClock);
    long opened = timeOfDay.getAsLong();
    // Includes the time for which this host was suspended: others count their sessions' time
    // meanwhile.
    LongSupplier uptime = () -> timeOfDay.getAsLong() - opened;
    FactDocuments facts = FactDocuments.byHosts(documents, ticker, wallClock);
    ClocklessExpiry observer = new ClocklessExpiry(ticker, DocumentRules.ALL);
    return new DocumentStore(
        profile, documents, renewals, observer, timeOfDay, uptime, facts, DocumentRules.ALL);
  }

  /**
   * The profile of a {@linkplain #clockless clockless} store whose documents can be watched.
   *
   * @param display its name; holds no secret
   * @param timeout after which a request is given up
   */
  public static StoreProfile clocklessProfile(String display, Duration timeout) {
    Set<Capability> capabilities = EnumSet.copyOf(CAPABILITIES_WITHOUT_CLOCK);
    capabilities.add(Capability.PUSH);
    return new StoreProfile(display, capabilities, timeout, LEAST_TTL, EXPIRY_LAG);
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  /** See {@link StoreSession#callBackDelay}. */
  Duration callBackDelay() {
    Duration delay = profile.can(Capability.PUSH) ? documents.watchDelay() : CALL_BACK_DELAY;
    return delay.compareTo(CALL_BACK_DELAY) > 0 ? CALL_BACK_DELAY : delay;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new DocumentSession(this, renewals, spec, hints);
  }

  /** The store's time. */
  long micros() {
    return micros.getAsLong();
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId id) {
    return sessions
        .judge(id)
        .thenApply(
            session ->
                session
                    .map(found -> found.verdict(micros()))
                    .orElseGet(SessionVerdict.SessionEnded::new));
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    List<Reply.Ended> taken = new CopyOnWriteArrayList<>();
    return locks
        .step(
            name,
            (table, now) -> {
              Reply.Ended reply = table.evict(name, attempt, how, now);
              taken.add(reply);
              return reply;
            })
        .thenApply(reply -> evicted(reply, taken));
  }

  /** An owner may learn of its eviction and end the attempt before the lock is written. */
  private static Reply.Ended evicted(Reply.Ended last, List<Reply.Ended> taken) {
    return taken.stream()
        .filter(reply -> reply.was() != AttemptState.ABSENT)
        .findFirst()
        .filter(before -> last.was() == AttemptState.ABSENT)
        .orElse(last);
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return locks.step(name, (table, now) -> table.reopen(name, now));
  }

  /**
   * Takes one step with the requests of a session about one lock.
   *
   * @param open the requests that are open now; read each time that the step is taken
   * @return the replies to the requests of the last try
   */
  CompletionStage<List<Reply>> requests(
      LockName name, SessionId session, Supplier<List<Request>> open) {
    KnownSessions known = new KnownSessions(session, () -> ownRenewals.left(session));
    CompletionStage<Boolean> look = looks.get(name);
    return look == null
        ? locks.requests(name, open, known)
        : look.handle((done, failure) -> true)
            .thenCompose(unused -> locks.requests(name, open, known));
  }

  /**
   * Others want a lock that this process holds. It looks at once: a write from memory would fail at
   * the release. Requests about the lock wait for the reads, instead of sending their own.
   */
  void wanted(LockName name, AttemptId hold) {
    CompletableFuture<Boolean> look = new CompletableFuture<>();
    if (looks.size() >= MOST_LOOKS) {
      locks.outdated(name);
    } else if (looks.putIfAbsent(name, look) == null) {
      int times = documents.writesTogether() ? 1 : LOOKS;
      CompletionStages.start(() -> locks.look(name, hold, times))
          .whenComplete(
              (done, failure) -> {
                looks.remove(name);
                look.complete(true);
              });
    }
  }

  /** A watch has told a session's document of this process. */
  void told(SessionId id, VersionedText found) {
    sessions.told(id, found);
  }

  DocumentRules rules() {
    return sessions.updater().rules();
  }

  OwnRenewals ownRenewals() {
    return ownRenewals;
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName only = query.name() == null ? null : LockName.of(query.name());
    if (only != null) {
      return ListedTexts.read(documents, List.of(LockUpdater.PREFIX + only.value()))
          .thenCompose(listed -> views(listed, query))
          .thenApply(page -> new Page<>(page, null));
    }
    String cursor = query.cursor();
    return documents
        .scanTexts(LockUpdater.PREFIX + query.prefix(), cursor == null ? "" : cursor, query.limit())
        .thenCompose(
            listed ->
                views(listed, query)
                    .thenApply(page -> new Page<>(page, last(listed, query.limit()))));
  }

  /** The last key of a full page; null if it is the last page. */
  private static @Nullable String last(List<ListedText> listed, int limit) {
    return listed.size() < limit ? null : listed.get(listed.size() - 1).key();
  }

  private CompletionStage<List<LockInfo>> views(List<ListedText> listed, LockQuery query) {
    SessionReader reader = SessionReader.remembering(sessions::readToShow);
    return ListedTexts.each(listed, each -> view(each, query, reader))
        .thenApply(views -> views.stream().flatMap(Optional::stream).toList());
  }

  private CompletionStage<Optional<LockInfo>> view(
      ListedText listed, LockQuery query, SessionReader reader) {
    LockName name = LockUpdater.name(listed.key()).orElse(null);
    if (name == null) { // Another program has created the key.
      return CompletableFuture.completedFuture(Optional.empty());
    }
    return locks
        .queues()
        .toShow(name, listed.found())
        .thenCompose(lock -> view(lock.orElse(null), query, reader));
  }

  private CompletionStage<Optional<LockInfo>> view(
      @Nullable LockDocument lock, LockQuery query, SessionReader reader) {
    long now = micros();
    locks.observeAtLeast(lock, now);
    if (lock == null || lock.isUnused() || (lock.isIdle(now) && !query.idle())) {
      return CompletableFuture.completedFuture(Optional.empty());
    } else if (query.isSummary()) {
      return CompletableFuture.completedFuture(Optional.of(lock.summary(now)));
    }
    return sessions.withSessions(
        reader,
        liveness -> {
          locks.observeEvictions(lock, liveness, now);
          return Optional.of(lock.view(liveness, now));
        });
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return documents
        .scanTexts(SessionDocuments.PREFIX, cursor == null ? "" : cursor, limit)
        .thenApply(
            listed ->
                new Page<>(
                    listed.stream().flatMap(each -> session(each).stream()).toList(),
                    last(listed, limit)));
  }

  private Optional<SessionInfo> session(ListedText listed) {
    return SessionDocuments.id(listed.key()) // Otherwise another program has created the key.
        .flatMap(
            id ->
                sessions
                    .decode(id, listed.found())
                    .map(
                        session ->
                            new SessionInfo(
                                id.value(),
                                session.client().info(),
                                session.ttl(),
                                timeLeft(session),
                                session.renewedAgo(micros()))));
  }

  private Duration timeLeft(SessionDocument session) {
    return sessions.isOverdue(session)
        ? Duration.ZERO
        : LockRecord.duration(session.left(micros()));
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return facts.read(name);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return facts.replace(name, version, content, keep);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return sweeper.sweep(budget);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return sweeper.claim();
  }

  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    VersionedDocuments other = renewals.updater().documents();
    documents.close();
    if (other != documents) {
      other.close();
    }
  }
}
