package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.admin.Eviction;
import io.mortise.internal.judge.StrictStore;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Ticker;
import io.mortise.spi.Verdict;
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
 * A store kept in a database: a lane for requests, a lane of its own for renewals and judgements,
 * each with its connection, and a watch that looks for news.
 */
final class JdbcLockStore implements LockStore {
  /** Sessions and locks that one sweep removes, whatever it might. */
  private static final int MOST_SWEPT = 256;

  /** So many locks are looked at by one sweep, of which most are in order. */
  private static final int SWEPT_AT_ONCE = 1_000;

  /** How often to look while somebody waits, though the server pushes. */
  private static final Duration BACKSTOP = Duration.ofMillis(500);

  private final Database database;
  private final StoreProfile profile;
  private final boolean rings;
  private final Lane requests;
  private final Lane renewals;
  private final NewsWatch watch;
  private final @Nullable Bells bells;
  private final Map<SessionId, JdbcSession> sessions = new ConcurrentHashMap<>();
  private final KnownNames names = new KnownNames();
  private volatile @Nullable Push push;
  private volatile String sweptTo = "";

  /** Whether sessions end by their beats, and the database's clock decides on none. */
  private volatile boolean strict;

  private JdbcLockStore(
      Database database, @Nullable Bells bells, boolean oneWriter, Duration poll) {
    this.database = database;
    this.profile = database.profile();
    this.bells = bells;
    this.rings = bells != null && bells.works();
    // Fair, so that a renewal waits for one batch of requests at most.
    ReentrantLock turn = new ReentrantLock(true);
    ReentrantLock other = oneWriter ? turn : new ReentrantLock();
    String name = "mortise-" + profile.display();
    this.requests = new Lane(name, database, turn, this::tell);
    this.renewals = new Lane(name + "-renewals", database, other, this::tell);
    NewsWatch.Reader reader = oneWriter ? new NewsWatch.OwnLink(database) : this::readNews;
    this.watch = new NewsWatch(name + "-news", bells, reader, () -> pushes() ? BACKSTOP : poll);
  }

  /** A store in a file that one process writes at a time, with bells beside it. */
  static JdbcLockStore over(SqliteFile file) {
    Bells bells = new Bells(file.realPath());
    file.endedProcesses(bells::isGone);
    return new JdbcLockStore(file, bells, true, Duration.ofMillis(10));
  }

  /**
   * A store in a database that serves many connections, where a look tells the news, and the server
   * if it can.
   */
  static JdbcLockStore over(ServerDatabase server) {
    JdbcLockStore store = new JdbcLockStore(server, null, false, server.poll());
    server.localSessions(store.sessions::containsKey);
    store.push = server.push(store.sessions, store::say, store.watch::lookNow);
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
                  new Work.Call<Boolean>(
                      link -> link.sessions.isKnownStrict(strictly),
                      link -> link.sessions.isStrict(strictly)))
              .join();
      if (agreed && !strictly) {
        throw new StoreUnfitException(
            "The tables are used with strict expiry (store="
                + profile.display()
                + "). Add strict-expiry=true, as all others have.");
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
    return new StrictStore(this, new JdbcBeats(this), Ticker.SYSTEM);
  }

  boolean isStrict() {
    return strict;
  }

  /** See {@link Database#isReplacedInPart}. */
  boolean isReplaced() {
    return database.isReplacedInPart();
  }

  /** The locks that have been asked for here. */
  KnownNames names() {
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
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    JdbcSession session = new JdbcSession(this, spec, hints, !rings);
    sessions.put(spec.id(), session);
    return session;
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return call(renewals, link -> link.sessions.judge(session, link.now()))
        .thenCompose(
            judged -> {
              SessionRows.Session found = judged.fromTheFuture();
              return found == null
                  ? CompletableFuture.completedFuture(judged.verdict())
                  : call(renewals, link -> link.sessions.shorten(session, found, link.now()));
            });
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return submit(
        requests, Work.Call.single(link -> new Inspector(link.rows, link::now).page(query)));
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    Rows.Expected expected = new Rows.Expected(name, attempt);
    Work.Step<Reply.Ended> step = link -> link.locks.evict(name, attempt, how, link.now());
    if (strict) {
      return submit(requests, new Work.Call<>(expected, step));
    }
    // Judged first, in a step of its own: what the eviction reads of the session may be stale.
    return judge(attempt.session())
        .thenCompose(verdict -> submit(requests, new Work.Call<>(expected, step)));
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return submit(
        requests,
        new Work.Call<>(
            new Rows.Expected(name, null), link -> link.locks.reopen(name, link.now())));
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    int bounded = Math.min(budget, MOST_SWEPT);
    // With strict expiry sessions are ended by those who watch their beats.
    return (strict
            ? CompletableFuture.completedFuture(0)
            : call(renewals, link -> link.sessions.sweep(bounded, link.now())))
        .thenCompose(
            ended ->
                ended == bounded
                    ? CompletableFuture.completedFuture(ended)
                    : submit(requests, Work.Call.single(link -> leftBehind(link, bounded - ended)))
                        .thenCompose(this::sweepOneByOne)
                        .thenApply(removed -> ended + removed));
  }

  /** Each in a step of its own, so that it keeps nobody else waiting. */
  private CompletionStage<Integer> sweepOneByOne(List<String> names) {
    CompletionStage<Integer> sum = CompletableFuture.completedFuture(0);
    for (String name : names) {
      sum =
          sum.thenCompose(
              before ->
                  submit(
                          requests,
                          new Work.Call<>(
                              new Rows.Expected(LockName.of(name), null),
                              link -> link.locks.sweep(name, link.now())))
                      .thenApply(removed -> before + removed));
    }
    return sum;
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return call(renewals, link -> link.examine(database));
  }

  void submit(Work work) {
    requests.submit(work);
  }

  void submitLater(Work work) {
    requests.submitLater(work);
  }

  /** Grants a lock to those that wait for it, if it is free. */
  void serve(LockName name) {
    submit(
        new Work.Call<>(new Rows.Expected(name, null), link -> link.locks.serve(name, link.now())));
  }

  @Override
  public void linger(BooleanSupplier done, Duration longest) {
    if (longest.compareTo(profile.maxInFlight()) >= 0 && !done.getAsBoolean()) {
      requests.help();
    }
  }

  <T> CompletableFuture<T> renewal(Work.Step<T> step) {
    return call(renewals, step);
  }

  /** As {@link Work.Call} says. */
  <T> CompletableFuture<T> renewal(Work.Shortcut<T> shortcut, Work.Step<T> step) {
    return submit(renewals, new Work.Call<>(shortcut, step));
  }

  /** The session holds or waits for the first time. */
  void watch(JdbcSession session) {
    watch.add(session);
    Push current = push;
    if (current != null) {
      current.hurry();
    }
  }

  private boolean pushes() {
    Push current = push;
    return current != null && current.works();
  }

  private CompletionStage<Boolean> say(String channel, String payload) {
    return call(
        renewals,
        link -> {
          link.rows.notify(channel, payload);
          return true;
        });
  }

  /** An attempt waits from now on. */
  void hurry() {
    Push current = push;
    if (current != null) {
      current.hurry();
    }
    watch.hurry();
  }

  void remove(JdbcSession session) {
    sessions.remove(session.id());
    watch.remove(session.id());
  }

  /** The next locks that have to be swept. */
  private List<String> leftBehind(Link link, int budget) throws SQLException {
    List<String> window = link.rows.namesAfter(sweptTo, SWEPT_AT_ONCE);
    List<String> found = List.of();
    if (!window.isEmpty()) {
      String last = window.get(window.size() - 1);
      long now = link.now();
      found =
          link.rows.leftBehind(
              sweptTo, last, now - HoldRow.micros(LockSteps.RETENTION), now, budget);
      sweptTo = found.size() == budget ? found.get(budget - 1) : last;
    }
    if (window.size() < SWEPT_AT_ONCE && found.size() < budget) {
      sweptTo = "";
    }
    if (bells != null) {
      List<SessionId> gone = new ArrayList<>();
      for (SessionId id : bells.listening()) {
        if (!sessions.containsKey(id) && link.rows.session(id.value()) == null) {
          gone.add(id);
        }
      }
      gone.forEach(bells::forget);
    }
    return found;
  }

  private List<Renewal.Item> readNews(SessionId id, long after)
      throws InterruptedException, ExecutionException {
    JdbcSession session = sessions.get(id);
    CompletableFuture<List<Renewal.Item>> news =
        submit(
            renewals,
            Work.Call.single(
                link -> {
                  if (session != null) {
                    // The connection may be new since the last renewal.
                    session.takeConnectionLock(link);
                  }
                  return NewsWatch.read(link, id, after);
                }));
    renewals.help();
    List<Renewal.Item> found = news.get();
    if (session != null) {
      session.serveIfPassedOver();
    }
    return found;
  }

  private static <T> CompletableFuture<T> call(Lane lane, Work.Step<T> step) {
    return submit(lane, new Work.Call<>(step));
  }

  private static <T> CompletableFuture<T> submit(Lane lane, Work.Call<T> call) {
    lane.submit(call);
    return call.answer;
  }

  private void tell(List<News> told) {
    SessionId rung = null;
    for (News news : told) {
      SessionId id = news.attempt().session();
      JdbcSession local = sessions.get(id);
      if (local != null) {
        local.hint(news);
      } else if (bells != null && !id.equals(rung)) {
        bells.ring(id);
        rung = id;
      }
    }
  }

  @Override
  public void close() {
    watch.close();
    Push current = push;
    if (current != null) {
      current.close();
    }
    requests.close();
    renewals.close();
    database.close();
  }
}
