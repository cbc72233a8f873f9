package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.jdbc.batch.ConnectionExecutor;
import io.mortise.jdbc.batch.StoreTask;
import io.mortise.jdbc.dialect.ServerDatabase;
import io.mortise.jdbc.dialect.SqliteFile;
import io.mortise.jdbc.notify.FileNotifier;
import io.mortise.jdbc.notify.NotificationListener;
import io.mortise.jdbc.notify.NotificationPoller;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.JdbcInspector;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.jdbc.table.SessionRepository;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.StrictExpiryStore;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store kept in a database: two executors, one for requests and one for renewals and judgements,
 * each with its connection, and a poller for notifications.
 */
final class JdbcLockStore implements LockStore {

  /** Sessions and locks that one sweep removes, whatever it might. */
  private static final int MOST_SWEPT = 256;

  /** So many locks are looked at by one sweep, of which most are in order. */
  private static final int SWEPT_AT_ONCE = 1_000;

  /** How often to look while somebody waits, though the server pushes. */
  private static final Duration BACKSTOP = Duration.ofMillis(500);

  private final Database database;
  private final Ticker ticker;
  private final StoreProfile profile;
  private final boolean hasFileNotifier;

  /** The connection of all requests but renewals. */
  final ConnectionExecutor requests;

  private final ConnectionExecutor renewals;
  private final NotificationPoller poller;
  private final @Nullable FileNotifier fileNotifier;
  private final Map<SessionId, JdbcSession> sessions = new ConcurrentHashMap<>();
  private final RecentNames names = new RecentNames();
  private final JdbcFacts facts;
  private volatile @Nullable NotificationListener notificationListener;
  private volatile String sweptTo = "";

  /** Whether sessions end by their beats, and the database's clock decides on none. */
  private volatile boolean strict;

  private JdbcLockStore(
      Database database,
      Ticker ticker,
      @Nullable FileNotifier fileNotifier,
      boolean oneWriter,
      Duration poll) {
    this.database = database;
    this.ticker = ticker;
    this.profile = database.profile();
    this.fileNotifier = fileNotifier;
    this.hasFileNotifier = fileNotifier != null && fileNotifier.isListening();
    // Fair, so that a renewal waits for one batch of requests at most.
    ReentrantLock transactionLock = new ReentrantLock(true);
    ReentrantLock other = oneWriter ? transactionLock : new ReentrantLock();
    String name = "mortise-" + profile.display();
    this.requests = new ConnectionExecutor(name, database, ticker, transactionLock, this::tell);
    this.renewals = new ConnectionExecutor(name + "-renewals", database, ticker, other, this::tell);
    // Where the server has one connection left, leases are worth more than new locks.
    requests.yieldsTo(renewals);
    this.facts = new JdbcFacts(requests, profile.display());
    NotificationPoller.NotificationReader reader =
        oneWriter ? new NotificationPoller.DedicatedReader(database) : this::readNotifications;
    this.poller =
        new NotificationPoller(
            name + "-news", ticker, fileNotifier, reader, () -> pushes() ? BACKSTOP : poll);
  }

  /** A store in a file that one process writes at a time, with file notifications. */
  static JdbcLockStore over(SqliteFile file, Ticker ticker) {
    FileNotifier fileNotifier = new FileNotifier(file.realPath());
    file.endedProcesses(fileNotifier::hasProcessEnded);
    return new JdbcLockStore(file, ticker, fileNotifier, true, Duration.ofMillis(10));
  }

  /**
   * A store in a database that serves many connections, where a poll finds notifications, and the
   * server pushes them if it can.
   */
  static JdbcLockStore over(ServerDatabase server, Ticker ticker) {
    JdbcLockStore store = new JdbcLockStore(server, ticker, null, false, server.poll());
    server.localSessions(store.sessions::containsKey);
    NotificationListener listener =
        server.listener(ticker, store.sessions, store::sendNotification, store.poller::pollNow);
    if (listener != null) {
      listener.yieldsWhile(store.renewals::lacksConnection);
      store.notificationListener = listener;
    }
    return store;
  }

  /**
   * The store as it is to be used: as it is, or so that the database's clock ends no session.
   * Blocks.
   *
   * @throws StoreUnfitException if others use these tables in the other way
   */
  LockStore expiring(boolean strictly) {
    try {
      boolean agreed =
          submit(
                  requests,
                  new StoreTask.ValueTask<Boolean>(
                      storeConnection -> storeConnection.sessions.agreedStrictness(strictly),
                      storeConnection -> storeConnection.sessions.agreeOnStrictness(strictly)))
              .join();
      if (agreed && !strictly) {
        throw new StoreUnfitException(
            "The tables are used with strict expiry (store=%s). Add strict-expiry=true, as all others have."
                .formatted(profile.display()));
      }
    } catch (RuntimeException e) {
      close();
      throw e instanceof CompletionException && e.getCause() instanceof RuntimeException cause
          ? cause
          : e;
    }
    strict = strictly;
    if (!strictly) {
      return this;
    }
    return new StrictExpiryStore(this, new JdbcBeatStore(this), ticker);
  }

  boolean isStrict() {
    return strict;
  }

  /** See {@link Database#isReplacedInPart}. */
  boolean isReplaced() {
    return database.isReplacedInPart();
  }

  /** The locks that have been asked for here. */
  RecentNames names() {
    return names;
  }

  /**
   * With strict expiry no session is shortened: a contender that saw a beat counts the TTL that it
   * saw with it, which a repeated renewal with the same beat must not outlast.
   */
  @Override
  public StoreProfile profile() {
    if (!strict) {
      return profile;
    }
    Set<Capability> capabilities = EnumSet.copyOf(profile.capabilities());
    capabilities.remove(Capability.VARIABLE_TTL);
    return new StoreProfile(
        profile.display(),
        capabilities,
        profile.maxInFlight(),
        profile.minTtl(),
        profile.expiryLag());
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    JdbcSession session = new JdbcSession(this, spec, hints, !hasFileNotifier);
    sessions.put(spec.id(), session);
    return session;
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return call(
            renewals,
            storeConnection -> storeConnection.sessions.judge(session, storeConnection.now()))
        .thenCompose(
            judged -> {
              SessionRepository.SessionRow found = judged.fromTheFuture();
              return found == null
                  ? CompletableFuture.completedFuture(judged.verdict())
                  : call(
                      renewals,
                      storeConnection ->
                          storeConnection.sessions.shorten(session, found, storeConnection.now()));
            });
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return look(
        inspector -> query.isSummary() ? inspector.summaries(query) : inspector.page(query));
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return look(inspector -> inspector.sessions(cursor, limit));
  }

  private interface Look<T> {
    T at(JdbcInspector inspector) throws SQLException;
  }

  private <T> CompletionStage<T> look(Look<T> look) {
    return submit(
        requests,
        StoreTask.ValueTask.single(
            storeConnection ->
                look.at(new JdbcInspector(storeConnection.repository, storeConnection::now))));
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    // Judged first, in a step of its own: the eviction may read a stale session.
    return (strict ? CompletableFuture.completedFuture(true) : judge(attempt.session()))
        .thenCompose(
            judged ->
                onLock(
                    name,
                    attempt,
                    storeConnection ->
                        storeConnection.locks.evict(name, attempt, how, storeConnection.now())));
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return onLock(
        name, null, storeConnection -> storeConnection.locks.reopen(name, storeConnection.now()));
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
    int bounded = Math.min(budget, MOST_SWEPT);
    // With strict expiry sessions are ended by those who watch their beats.
    return (strict
            ? CompletableFuture.completedFuture(0)
            : call(
                renewals,
                storeConnection -> storeConnection.sessions.sweep(bounded, storeConnection.now())))
        .thenCompose(
            ended ->
                ended == bounded
                    ? CompletableFuture.completedFuture(ended)
                    : submit(
                            requests,
                            StoreTask.ValueTask.single(
                                storeConnection -> leftBehind(storeConnection, bounded - ended)))
                        .thenCompose(this::sweepOneByOne)
                        .thenCombine(
                            facts.sweep(bounded), (removed, swept) -> ended + removed + swept));
  }

  /** Each in a step of its own, so that it keeps nobody else waiting. */
  private CompletionStage<Integer> sweepOneByOne(List<String> names) {
    CompletionStage<Integer> sum = CompletableFuture.completedFuture(0);
    for (String swept : names) {
      LockName name = LockName.of(swept);
      sum =
          sum.thenCompose(
              before ->
                  this.<Integer>onLock(
                          name,
                          null,
                          storeConnection ->
                              storeConnection.locks.sweep(name, storeConnection.now()))
                      .thenApply(removed -> before + removed));
    }
    return sum;
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return call(renewals, storeConnection -> storeConnection.examine(database));
  }

  /** Grants a lock to those that wait for it, if it is free. */
  void serve(LockName name) {
    var unused =
        onLock(
            name,
            null,
            storeConnection -> storeConnection.locks.serve(name, storeConnection.now()));
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    if (longest.compareTo(profile.maxInFlight()) >= 0 && !done.getAsBoolean()) {
      requests.runOnCaller();
    }
  }

  <T> CompletableFuture<T> renewal(StoreTask.TransactionStep<T> step) {
    return call(renewals, step);
  }

  /** As {@link StoreTask.ValueTask} says. */
  <T> CompletableFuture<T> renewal(
      StoreTask.FastPath<T> fastPath, StoreTask.TransactionStep<T> step) {
    return submit(renewals, new StoreTask.ValueTask<>(fastPath, step));
  }

  /** The session holds or waits for the first time. */
  void watch(JdbcSession session) {
    poller.add(session);
    NotificationListener current = notificationListener;
    if (current != null) {
      current.onWaiterAdded();
    }
  }

  /** Whether a file of each session tells others that its process lives. */
  boolean watchesFiles() {
    return fileNotifier != null;
  }

  private boolean pushes() {
    NotificationListener current = notificationListener;
    return current != null && current.isListening();
  }

  /**
   * Whether notifications reach this process in time: pushed, or by polls where the server does not
   * push. Polls through a pooler are too slow.
   */
  boolean receivesPushes() {
    NotificationListener current = notificationListener;
    return current == null || !current.isCutOff();
  }

  /** See {@link StoreSession#callBackDelay}. */
  Duration callBackDelay() {
    return hasFileNotifier || pushes() ? Duration.ZERO : poller.holdersPause();
  }

  private CompletionStage<Boolean> sendNotification(String channel, String payload) {
    return call(
        renewals,
        storeConnection -> {
          storeConnection.repository.notify(channel, payload);
          return true;
        });
  }

  /** An attempt waits from now on. */
  void onWaiterAdded() {
    NotificationListener current = notificationListener;
    if (current != null) {
      current.onWaiterAdded();
    }
    poller.onWaiterAdded();
  }

  void remove(JdbcSession session) {
    sessions.remove(session.id());
    poller.remove(session.id());
  }

  /** The next locks that have to be swept. */
  private List<String> leftBehind(StoreConnection storeConnection, int budget) throws SQLException {
    List<String> window = storeConnection.repository.namesAfter(sweptTo, SWEPT_AT_ONCE);
    List<String> found = List.of();
    if (!window.isEmpty()) {
      String last = window.get(window.size() - 1);
      long now = storeConnection.now();
      found =
          storeConnection.repository.leftBehind(
              sweptTo, last, now - LockRecord.micros(LockTable.RETENTION), now, budget);
      sweptTo = found.size() == budget ? found.get(budget - 1) : last;
    }
    if (window.size() < SWEPT_AT_ONCE && found.size() < budget) {
      sweptTo = "";
    }
    if (fileNotifier != null) {
      List<SessionId> gone = new ArrayList<>();
      for (SessionId id : fileNotifier.listening()) {
        if (!sessions.containsKey(id) && storeConnection.repository.session(id.value()) == null) {
          gone.add(id);
        }
      }
      gone.forEach(fileNotifier::forget);
    }
    return found;
  }

  private List<Renewal.NumberedNotification> readNotifications(SessionId id, long after)
      throws InterruptedException, ExecutionException {
    JdbcSession session = sessions.get(id);
    CompletableFuture<List<Renewal.NumberedNotification>> notifications =
        submit(
            renewals,
            StoreTask.ValueTask.single(
                storeConnection -> {
                  if (session != null) {
                    // The connection may be new since the last renewal.
                    session.takeConnectionLock(storeConnection);
                  }
                  return NotificationPoller.read(storeConnection, id, after);
                }));
    renewals.runOnCaller();
    List<Renewal.NumberedNotification> found = notifications.get();
    if (session != null) {
      session.serveIfPassedOver();
    }
    return found;
  }

  /** Does a step on one lock, which may ask about an attempt. */
  private <T> CompletableFuture<T> onLock(
      LockName name, @Nullable AttemptId attempt, StoreTask.TransactionStep<T> step) {
    return submit(
        requests,
        new StoreTask.ValueTask<>(new LockRepository.PrefetchTarget(name, attempt), step));
  }

  private static <T> CompletableFuture<T> call(
      ConnectionExecutor connectionExecutor, StoreTask.TransactionStep<T> step) {
    return submit(connectionExecutor, new StoreTask.ValueTask<>(step));
  }

  private static <T> CompletableFuture<T> submit(
      ConnectionExecutor connectionExecutor, StoreTask.ValueTask<T> valueTask) {
    connectionExecutor.submit(valueTask);
    return valueTask.answer;
  }

  private void tell(List<SessionNotification> pendingNotifications) {
    SessionId signalled = null;
    for (SessionNotification sessionNotification : pendingNotifications) {
      SessionId id = sessionNotification.attempt().session();
      JdbcSession local = sessions.get(id);
      if (local != null) {
        local.hint(sessionNotification);
      } else if (fileNotifier != null && !id.equals(signalled)) {
        fileNotifier.signal(id);
        signalled = id;
      }
    }
  }

  @Override
  public void close() {
    poller.close();
    NotificationListener current = notificationListener;
    if (current != null) {
      current.close();
    }
    requests.close();
    renewals.close();
    database.close();
  }
}
