package io.mortise.support.document;

import io.mortise.internal.queue.KeyedBatcher;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.support.document.DocumentUpdater.JoinedWrites;
import io.mortise.support.document.DocumentUpdater.Update;
import io.mortise.support.document.VersionedDocuments.DocumentWrite;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.support.table.DocumentCodec;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockStep;
import io.mortise.support.table.SessionDocument;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sessions' documents, and the steps' view of them. Thread-safe.
 *
 * <p><b>Crowds.</b> Many locks of one process leave notes to one session, and judge it. These
 * changes share their reads and writes: one is in flight, and later ones share the next. A change
 * never joins a read that was sent before it: a session may have been created since, or a note been
 * left. A renewal does not wait for them; it has a connection and an updater of its own.
 *
 * <p><b>Order.</b> A lock is written after the notes that it depends on were written, since its
 * step waits for their outcome. Notes about one lock are left in the order of their steps.
 */
final class SessionDocuments {
  static final String PREFIX = "session/";

  /** The last conflict comes after milliseconds of pauses: the holder may have released by then. */
  private static final int CONFLICTS_OF_NOTES = 5;

  /** After so many failed comparisons a step leaves its notes apart from its lock. */
  private static final int CONFLICTS_OF_JOINED = 3;

  /** A transaction has at most eight documents: the lock, the rear of its queue, and these. */
  private static final int MOST_JOINED = 6;

  private final DocumentUpdater updater;
  private final @Nullable ClocklessExpiry observer;

  /** Sessions that a write of a lock in flight takes along. Others leave their notes apart. */
  private final Set<SessionId> joined = ConcurrentHashMap.newKeySet();

  private final KeyedBatcher<SessionId, SessionChange, ChangedSession> changes =
      new KeyedBatcher<>(change -> null, this::changeTogether, DocumentUpdater::isTooLarge);

  /**
   * Sends nothing yet.
   *
   * @param observer judges how long sessions live; null to judge by the server's clock
   */
  SessionDocuments(DocumentUpdater updater, @Nullable ClocklessExpiry observer) {
    this.updater = updater;
    this.observer = observer;
  }

  DocumentUpdater updater() {
    return updater;
  }

  @Nullable ClocklessExpiry observer() {
    return observer;
  }

  static String key(SessionId id) {
    return PREFIX + id.value();
  }

  /**
   * Watches the session's document; returns the action that ends the watch.
   *
   * @param changed receives the document as of a change; null if it has to be read
   */
  Runnable watch(SessionId id, Consumer<@Nullable VersionedText> changed) {
    return updater.documents().watch(key(id), changed);
  }

  /** The present session; empty if there is none. */
  CompletionStage<Optional<SessionDocument>> read(SessionId id) {
    return updater.documents().read(key(id)).thenApply(found -> decode(id, found));
  }

  /** A session to show to people, as ended if its time has passed. Writes nothing. */
  CompletionStage<Optional<SessionDocument>> readToShow(SessionId id) {
    return read(id)
        .thenApply(
            found -> {
              found.filter(this::isOverdue).ifPresent(SessionDocument::end);
              return found;
            });
  }

  /** The session that a key names; empty if another program has created the key. */
  static Optional<SessionId> id(String key) {
    try {
      return Optional.of(new SessionId(key.substring(PREFIX.length())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** A session as it was read; empty if there was none. */
  Optional<SessionDocument> decode(SessionId id, VersionedText found) {
    return Optional.ofNullable(decodeOrNull(id, found));
  }

  private @Nullable SessionDocument decodeOrNull(SessionId id, VersionedText found) {
    SessionDocument session = DocumentCodec.decodeSession(key(id), found.text());
    if (session != null && observer != null) {
      observer.observe(id, session);
    }
    return session;
  }

  /** Remembers a session's document that a watch has told. */
  void told(SessionId id, VersionedText found) {
    updater.memory().putTold(key(id), found);
  }

  /** Reads a session that a step is likely to need, and to write. */
  CompletionStage<Optional<SessionDocument>> readToRemember(SessionId id) {
    return updater.readToChange(key(id)).thenApply(found -> decode(id, found));
  }

  /**
   * A session as this process remembers it, while no process may end it by the renewal that it has
   * observed last; null otherwise: a session is never ended by what is remembered.
   *
   * @param ownLeft for how many microseconds the session surely lives; 0 if that is not known
   */
  private @Nullable SessionDocument remembered(
      SessionId id, @Nullable VersionedText found, long ownLeft) {
    SessionDocument session =
        found == null ? null : DocumentCodec.decodeSession(key(id), found.text());
    if (session == null || session.hasEnded()) {
      return null;
    } else if (observer != null && ownLeft > 0) {
      session.observed(LockRecord.duration(ownLeft));
    } else if (observer != null && !observer.observeRemembered(id, session)) {
      return null;
    }
    return isOverdue(session) ? null : session;
  }

  /**
   * Adds remembered sessions to those of a step.
   *
   * @param which the sessions that need not be read
   * @return whether the step misses none any more
   */
  boolean addRemembered(KnownSessions sessions, Predicate<SessionId> which) {
    for (SessionId id : List.copyOf(sessions.missing)) {
      SessionDocument session =
          which.test(id) ? remembered(id, updater.remembered(key(id)), 0) : null;
      if (session != null) {
        sessions.add(id, Optional.of(session));
      }
    }
    return !sessions.isIncomplete();
  }

  /** The session if it is remembered and lives, otherwise as {@link #judge} reads it. */
  CompletionStage<Optional<SessionDocument>> judgeUnlessAlive(SessionId id) {
    SessionDocument session = remembered(id, updater.remembered(key(id)), 0);
    return session == null ? judge(id) : CompletableFuture.completedFuture(Optional.of(session));
  }

  /** Whether the session may be ended, and was not yet. */
  boolean isOverdue(SessionDocument session) {
    return session.isOverdue(updater.micros());
  }

  /**
   * The present session. An expired one is ended for good, so that a renewal which began before
   * cannot revive it. For steps that rely on its end.
   */
  CompletionStage<Optional<SessionDocument>> judge(SessionId id) {
    return change(
            id,
            ChangeKind.JUDGEMENT,
            session -> {
              boolean ends = isOverdue(session);
              if (ends) {
                session.end();
              }
              return ends;
            })
        .thenApply(ChangedSession::session);
  }

  /** A step on a session's document; the session is null if there is none. */
  interface SessionStep<T> {
    /**
     * The next document of the session, and the step's result.
     *
     * @param found the document with its version
     */
    Update<T> take(@Nullable SessionDocument session, VersionedText found);
  }

  /** The result of a step that leaves the document unchanged. */
  static <T> Update<T> unchanged(T result) {
    return new Update<>(false, null, result);
  }

  /** The result of a step that may have changed the document. */
  static <T> Update<T> changed(SessionDocument session, boolean changed, T result) {
    return new Update<>(changed, changed ? DocumentCodec.encode(session) : null, result);
  }

  /** Takes a step of a sweep, which takes steps of all sessions in turn. */
  <T> CompletionStage<T> updateSwept(SessionId id, SessionStep<T> step) {
    return updater.update(
        key(id),
        found -> {
          SessionDocument session = DocumentCodec.decodeSession(key(id), found.text());
          if (session != null && observer != null) {
            observer.observeSwept(id, session);
          }
          return CompletableFuture.completedFuture(step.take(session, found));
        });
  }

  /** Begins a new round: the sweep has taken a step of all sessions. */
  void endRound() {
    if (observer != null) {
      observer.endRound();
    }
  }

  /** Takes a step of a session that is probably unchanged since this process had it last. */
  <T> CompletionStage<T> updateRemembered(SessionId id, SessionStep<T> step) {
    return updater.updateRemembered(
        key(id),
        found -> step.take(decodeOrNull(id, found), found),
        found -> CompletableFuture.completedFuture(step.take(decodeOrNull(id, found), found)));
  }

  /** The reasons for a change of a session's document. */
  enum ChangeKind {
    /** The end of an expired session. */
    JUDGEMENT,
    /**
     * Notes that must exist before the lock is written. After some failed comparisons they are
     * given up: the lock is read again, and may be free.
     */
    NOTES_BEFORE_LOCK,
    /** Notes about a lock that was written. */
    NOTES_AFTER_LOCK
  }

  /** The result of a change. */
  enum ChangeOutcome {
    UNCHANGED,
    CHANGED,
    /** Another process has written the document meanwhile, and the change was given up. */
    OUTDATED
  }

  /**
   * A change that shares its write with others of its session.
   *
   * @param change returns whether it has changed the given document
   */
  private record SessionChange(ChangeKind kind, Predicate<SessionDocument> change) {}

  /**
   * A change's result, with the session's document after it.
   *
   * @param session the session after that; empty if there is none
   */
  private record ChangedSession(ChangeOutcome outcome, Optional<SessionDocument> session) {}

  private CompletionStage<ChangedSession> change(
      SessionId id, ChangeKind kind, Predicate<SessionDocument> change) {
    CompletableFuture<ChangedSession> outcome = new CompletableFuture<>();
    changes.add(id, new SessionChange(kind, change), outcome);
    return outcome;
  }

  private CompletionStage<List<ChangedSession>> changeTogether(
      SessionId id, Supplier<List<SessionChange>> open) {
    // Taken once: changes added later must not rely on a read that was sent before.
    List<SessionChange> together = open.get();
    AtomicInteger written = new AtomicInteger();
    Function<VersionedText, Update<List<ChangedSession>>> step =
        found -> {
          // A step that was written is repeated only after a failed comparison.
          boolean isOutdated = written.get() >= CONFLICTS_OF_NOTES;
          SessionDocument session = decodeOrNull(id, found);
          List<ChangeOutcome> outcomes =
              together.stream().map(each -> outcome(each, session, isOutdated)).toList();
          boolean changed = outcomes.contains(ChangeOutcome.CHANGED);
          written.addAndGet(changed ? 1 : 0);
          Optional<SessionDocument> stands = Optional.ofNullable(session);
          return new Update<>(
              changed,
              session != null && changed ? DocumentCodec.encode(session) : null,
              outcomes.stream().map(outcome -> new ChangedSession(outcome, stands)).toList());
        };
    return updater.updateRemembered(
        key(id),
        found ->
            together.stream().allMatch(each -> each.kind() == ChangeKind.JUDGEMENT)
                ? null
                : step.apply(found),
        found -> {
          updater.remember(key(id), found);
          return CompletableFuture.completedFuture(step.apply(found));
        });
  }

  private static ChangeOutcome outcome(
      SessionChange change, @Nullable SessionDocument session, boolean isOutdated) {
    if (isOutdated && change.kind() == ChangeKind.NOTES_BEFORE_LOCK) {
      return ChangeOutcome.OUTDATED;
    }
    return session != null && change.change().test(session)
        ? ChangeOutcome.CHANGED
        : ChangeOutcome.UNCHANGED;
  }

  /**
   * A session that its first renewal creates. Its document may have existed before, and have been
   * removed. Each renewal is a write, and each write of the document raises its version: a count
   * from the version on exceeds all that observers have seen.
   */
  SessionDocument create(SessionSpec spec, Duration ttl, VersionedText absent, long now) {
    SessionDocument made = new SessionDocument(spec.client(), ttl, now);
    if (observer != null && updater.rules().countsFromVersion()) {
      made.countRenewalsFrom(DocumentUpdater.number(absent, LockStep.HIGHEST_REVISION));
    }
    return made;
  }

  /** The reply to a renewal. Without a clock it has no time of the store. */
  Renewal told(Renewal renewal) {
    return observer != null && renewal instanceof Renewal.Renewed renewed
        ? new Renewal.Renewed(0, renewed.notifications(), renewed.more(), renewed.incarnation())
        : renewal;
  }

  /**
   * Ends a session that its owner has closed. Without a clock its document is removed at once: a
   * renewal that is executed late compares a version that no longer exists. Elsewhere it stays
   * until no renewal can be in flight.
   */
  CompletionStage<Boolean> close(SessionId id) {
    return updateRemembered(
        id,
        (session, found) -> {
          if (session == null) {
            return unchanged(false);
          }
          boolean open = !session.hasEnded();
          session.end();
          return observer == null ? changed(session, open, open) : new Update<>(true, null, open);
        });
  }

  /**
   * Adds notifications to the documents of their sessions, and removes those of ended attempts. The
   * sessions are written in parallel.
   *
   * @param ended attempts whose earlier notifications are removed first
   * @return whether any session's document was changed; outdated if one was given up
   */
  CompletionStage<ChangeOutcome> updateNotes(
      ChangeKind kind, List<SessionNotification> notifications, List<AttemptId> ended, long now) {
    Map<SessionId, List<AttemptId>> forgotten =
        ended.stream().collect(Collectors.groupingBy(AttemptId::session));
    Map<SessionId, List<SessionNotification>> told = bySession(notifications);
    CompletionStage<ChangeOutcome> all = CompletableFuture.completedFuture(ChangeOutcome.UNCHANGED);
    for (SessionId id : concerned(told, forgotten)) {
      CompletionStage<ChangedSession> changed =
          change(
              id,
              kind,
              session ->
                  change(
                      session,
                      forgotten.getOrDefault(id, List.of()),
                      told.getOrDefault(id, List.of()),
                      now));
      all =
          all.thenCombine(
              changed,
              (before, one) -> before.compareTo(one.outcome()) > 0 ? before : one.outcome());
    }
    return all;
  }

  /**
   * Notes that are written together with their lock.
   *
   * @param apart ended attempts whose earlier notifications are still to be removed
   */
  record JoinedNotes(JoinedWrites writes, List<AttemptId> apart) {}

  /**
   * The writes of sessions that leave the notes of a step, and remove those of ended attempts. Null
   * if there are none, if the server cannot write several documents at a time, or if the step would
   * be in the way of others: then the notes are left by {@link #updateNotes}.
   */
  @Nullable JoinedNotes join(
      KnownSessions sessions, List<SessionNotification> notes, List<AttemptId> ended, long now) {
    if (!updater.documents().writesTogether() || sessions.refused.get() >= CONFLICTS_OF_JOINED) {
      return null;
    }
    Map<SessionId, List<SessionNotification>> told = bySession(notes);
    Map<SessionId, List<AttemptId>> forgotten =
        ended.stream().collect(Collectors.groupingBy(AttemptId::session));
    List<DocumentWrite> writes = new ArrayList<>();
    List<AttemptId> apart = new ArrayList<>();
    List<SessionId> written = new ArrayList<>();
    for (SessionId id : concerned(told, forgotten)) {
      List<AttemptId> attempts = forgotten.getOrDefault(id, List.of());
      VersionedText found = updater.remembered(key(id));
      SessionDocument session = remembered(id, found, sessions.sureLeft(id));
      if (found == null || session == null) {
        if (told.containsKey(id)) {
          return null;
        }
        apart.addAll(attempts);
      } else if (change(session, attempts, told.getOrDefault(id, List.of()), now)) {
        writes.add(new DocumentWrite(key(id), found, DocumentCodec.encode(session)));
        written.add(id);
      } else {
        // A note may have been left there since.
        apart.addAll(attempts);
      }
    }
    return writes.isEmpty() || writes.size() > MOST_JOINED || !reserve(written)
        ? null
        : new JoinedNotes(
            new JoinedWrites(List.of(), writes, outcomes -> ended(sessions, written, outcomes)),
            apart);
  }

  /** Many locks of one process leave notes to one session: their writes would fail each other. */
  private boolean reserve(List<SessionId> ids) {
    for (int i = 0; i < ids.size(); i++) {
      if (!joined.add(ids.get(i))) {
        ids.subList(0, i).forEach(joined::remove);
        return false;
      }
    }
    return true;
  }

  private void ended(
      KnownSessions sessions, List<SessionId> ids, @Nullable List<Written> outcomes) {
    ids.forEach(joined::remove);
    if (outcomes != null && outcomes.get(0).made()) {
      return;
    }
    sessions.refused.incrementAndGet();
    for (int i = 0; outcomes != null && i < ids.size(); i++) {
      VersionedText stands = outcomes.get(i).stands();
      if (stands != null) {
        // As good as a read: the step goes on from it.
        var unused = decode(ids.get(i), stands);
      }
    }
  }

  /**
   * Removes the notes of ended attempts and leaves others; returns whether that changes anything.
   */
  private static boolean change(
      SessionDocument session,
      List<AttemptId> forgotten,
      List<SessionNotification> notes,
      long now) {
    boolean any = false;
    for (AttemptId attempt : forgotten) {
      any |= session.forget(attempt);
    }
    for (SessionNotification note : notes) {
      any |= session.tell(note, now);
    }
    return any;
  }

  private static Map<SessionId, List<SessionNotification>> bySession(
      List<SessionNotification> notes) {
    return notes.stream().collect(Collectors.groupingBy(note -> note.attempt().session()));
  }

  private static List<SessionId> concerned(
      Map<SessionId, List<SessionNotification>> told, Map<SessionId, List<AttemptId>> forgotten) {
    return Stream.concat(told.keySet().stream(), forgotten.keySet().stream()).distinct().toList();
  }

  /** A way to read the sessions of a step. */
  interface SessionReader {
    CompletionStage<Optional<SessionDocument>> read(SessionId id);

    /** Reads each session once: a page of locks may have one holder. */
    static SessionReader remembering(SessionReader reader) {
      Map<SessionId, CompletionStage<Optional<SessionDocument>>> read = new ConcurrentHashMap<>();
      return id -> read.computeIfAbsent(id, reader::read);
    }
  }

  /**
   * Takes a pure step with the sessions that it needs. The sessions that it met are read and the
   * step is repeated, until it meets no unread session.
   */
  <T> CompletionStage<T> withSessions(SessionReader reader, Function<KnownSessions, T> step) {
    return withSessions(reader, new KnownSessions(), step);
  }

  /** Takes a step, where some sessions are known. */
  <T> CompletionStage<T> withSessions(
      SessionReader reader, KnownSessions sessions, Function<KnownSessions, T> step) {
    sessions.missing.clear();
    T result = step.apply(sessions);
    if (sessions.missing.isEmpty()) {
      return CompletableFuture.completedFuture(result);
    }
    CompletionStage<Boolean> read = CompletableFuture.completedFuture(true);
    for (SessionId id : List.copyOf(sessions.missing)) {
      CompletionStage<Optional<SessionDocument>> reading = reader.read(id);
      read = read.thenCombine(reading, (before, session) -> sessions.add(id, session));
    }
    return read.thenCompose(done -> withSessions(reader, sessions, step));
  }

  /**
   * The sessions that were read, and those still to be read. Used by one step at a time. A step
   * repeated after a failed comparison keeps them, since a new read would give others time to
   * write. A later step finds a session that has ended since.
   */
  static final class KnownSessions implements LockStep.Liveness {
    private final Map<SessionId, Optional<SessionDocument>> known = new HashMap<>();
    private final Set<SessionNotification> left = new HashSet<>();
    private final Set<SessionId> missing = new HashSet<>();
    private final @Nullable SessionId renewed;
    private final LongSupplier renewedLeft;

    /** How many writes of the step together with notes have failed. */
    private final AtomicInteger refused = new AtomicInteger();

    /** No known sessions. */
    KnownSessions() {
      renewed = null;
      renewedLeft = () -> 0;
    }

    /**
     * With a session that this process has renewed: no process may end it yet, so it need not be
     * read.
     *
     * @param left for how many microseconds it lives at least; 0 if it is not known
     */
    KnownSessions(SessionId renewed, LongSupplier left) {
      this.renewed = renewed;
      this.renewedLeft = left;
    }

    /** Marks all sessions as to be read again. */
    void forgetAll() {
      known.clear();
    }

    /** Forgets the living: their documents may have changed. An ended session stays so. */
    void forgetAlive() {
      known.values().removeIf(found -> found.filter(it -> !it.hasEnded()).isPresent());
    }

    /** For how many microseconds the session surely lives; 0 if that is not known. */
    private long sureLeft(SessionId id) {
      return id.equals(renewed) ? renewedLeft.getAsLong() : 0;
    }

    /** Records that these notes were left; the sessions are to be read again. */
    void addLeft(List<SessionNotification> notes) {
      left.addAll(notes);
      known.clear();
    }

    /** Whether these notes were left before the sessions were read. */
    boolean hasLeft(List<SessionNotification> notes) {
      return left.containsAll(notes);
    }

    /** Forgets sessions that have expired since they were read: they may have been renewed. */
    void forgetOverdue(long now) {
      known.values().removeIf(found -> found.filter(it -> it.isOverdue(now)).isPresent());
    }

    /** Whether the last step met an unread session. */
    boolean isIncomplete() {
      return !missing.isEmpty();
    }

    boolean add(SessionId id, Optional<SessionDocument> session) {
      known.put(id, session);
      return missing.remove(id);
    }

    /** Whether the session was read. Answers about unread sessions are discarded. */
    private boolean isKnown(SessionId id) {
      boolean found = known.containsKey(id);
      if (!found) {
        missing.add(id);
      }
      return found;
    }

    @Override
    public Duration ttl(SessionId id) {
      return isKnown(id) ? find(id).map(SessionDocument::ttl).orElse(Duration.ZERO) : Duration.ZERO;
    }

    private Optional<SessionDocument> find(SessionId id) {
      return known.getOrDefault(id, Optional.empty());
    }

    @Override
    public long left(SessionId id, long now) {
      long sure = known.containsKey(id) ? 0 : sureLeft(id);
      if (sure > 0) {
        return sure;
      }
      return isKnown(id) ? find(id).map(session -> session.left(now)).orElse(0L) : 1;
    }

    @Override
    public @Nullable Duration renewedAgo(SessionId id, long now) {
      return isKnown(id) ? find(id).map(session -> session.renewedAgo(now)).orElse(null) : null;
    }

    @Override
    public boolean isConnected(SessionId session) {
      return true;
    }

    @Override
    public @Nullable ClientLabel client(SessionId id, long now) {
      return isKnown(id) ? find(id).map(SessionDocument::client).orElse(null) : null;
    }
  }
}
