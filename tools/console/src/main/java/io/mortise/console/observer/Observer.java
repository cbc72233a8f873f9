package io.mortise.console.observer;

import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes a store for all pages together, in three ways: surveys of all locks; inspections of
 * important locks, such as those with waiters, every two seconds; and inspections on demand. The
 * first two keep to a budget. Without viewers only the surveys continue, once a minute.
 *
 * <p>One thread calls {@link #step}; everything else may be called by any.
 */
public final class Observer {
  private static final Logger log = LoggerFactory.getLogger(Observer.class);
  private static final long RECENT = Duration.ofMillis(1500).toNanos();
  private static final long SURVEY = Duration.ofSeconds(2).toNanos();
  private static final long SESSIONS = Duration.ofSeconds(4).toNanos();
  private static final long IDLE = Duration.ofMinutes(1).toNanos();
  private static final long LONGEST_NAP = Duration.ofSeconds(1).toNanos();
  private static final long WATCHED_RETRY = Duration.ofSeconds(5).toNanos();
  private static final Duration CLOSING = Duration.ofSeconds(2);
  private static final int SEARCHED = 1000;
  private static final int PAGE = LockAdmin.MAX_PAGE;

  /** The lock of {@code mortise doctor}. */
  private static final String OF_DOCTOR = "mortise-doctor";

  private final LockAdmin admin;
  private final Ticker ticker;
  private final InstantSource clock;
  private final StoreBudget budget;
  private final SeenLocks seen;
  private final @Nullable HistoryFile history;
  private final CycleWatch cycleWatch = new CycleWatch();
  private final Viewers viewers;
  private final Map<String, Long> searched = new ConcurrentHashMap<>();
  private final Outages outages = new Outages();
  private final Instant started;
  private final Instant watchedSince;

  private volatile Survey survey = new Survey(null, Duration.ZERO, false);
  private volatile List<WaitCycle> cycles = List.of();
  private volatile @Nullable Thread thread;
  private volatile boolean closed;

  private final HotTask hotTask;
  private final ObserverTask[] tasks;
  private long failedAt;
  private long retryAt;

  /**
   * The last survey of all locks.
   *
   * @param asOf its begin; null before the first has ended
   * @param took from its begin to its end
   * @param complete whether all locks are in the list
   */
  public record Survey(@Nullable Instant asOf, Duration took, boolean complete) {}

  /** Observes by this client, with a share of the store's time, and keeps its history in memory. */
  public Observer(LockAdmin admin, double share, Ticker ticker, InstantSource clock) {
    this(admin, share, null, ticker, clock);
  }

  /**
   * Observes by this client, with a share of the store's time.
   *
   * @param history the file of past and future events; null for none
   */
  public Observer(
      LockAdmin admin,
      double share,
      @Nullable HistoryFile history,
      Ticker ticker,
      InstantSource clock) {
    this.seen = new SeenLocks(history);
    this.history = history;
    this.admin = admin;
    this.ticker = ticker;
    this.clock = clock;
    this.budget = new StoreBudget(share, ticker.nanos());
    this.started = clock.instant();
    HistoryFile.SavedHistory past = history == null ? null : history.read(EventRing.KEPT);
    this.watchedSince = past == null ? started : past.since();
    if (past != null) {
      seen.restore(past, started);
      outages.restore(seen.events().after(0, event -> true, EventRing.KEPT));
    }
    this.viewers = new Viewers(ticker);
    this.failedAt = ticker.nanos();
    this.retryAt = failedAt;
    this.hotTask = new HotTask(admin, seen, viewers, clock, this::watchCycles);
    this.tasks = new ObserverTask[] {hotTask, new SurveyTask(), new SessionsTask()};
  }

  /** Its start. */
  public Instant started() {
    return started;
  }

  /** The begin of its history, which may include earlier consoles. */
  public Instant watchedSince() {
    return watchedSince;
  }

  /** The present time by its clock. */
  public Instant now() {
    return clock.instant();
  }

  /** The present outage; null while the store answers. */
  public Outages.@Nullable Outage outage() {
    return outages.current();
  }

  /** The last survey. */
  public Survey survey() {
    return survey;
  }

  /** The begin of the last list of all sessions; without such lists, of the last survey. */
  public @Nullable Instant sessionsAsOf() {
    return seen.sessions().listedAt(survey.asOf());
  }

  /** The last gaps in observation, the oldest first. */
  public List<Outages.Gap> gaps() {
    return outages.gaps();
  }

  /** The share of the store's time that it may take. */
  public double share() {
    return budget.share();
  }

  /** The store's time that it has taken. */
  public LookCost cost() {
    return budget.cost(ticker.nanos());
  }

  /** All observed locks, in no order. */
  public Collection<SeenLock> locks() {
    return seen.all();
  }

  /** An observed lock; null if unknown. */
  public @Nullable SeenLock lock(String name) {
    return seen.get(name);
  }

  /** All observed processes. */
  public List<SeenSession> sessions() {
    return seen.sessions().all();
  }

  /** An observed process; null if unknown. */
  public @Nullable SeenSession session(String session) {
    return seen.sessions().get(session);
  }

  /** The observed events. */
  public EventRing events() {
    return seen.events();
  }

  /** Possible deadlocks that have lasted. */
  public List<WaitCycle> cycles() {
    return cycles;
  }

  /** The usual duration of holds of locks with such a name; null if unknown. */
  public @Nullable Duration usual(String name) {
    return seen.usual().of(name);
  }

  /** Whether it is held unusually long. */
  public boolean isLong(SeenLock lock) {
    return seen.usual().isLong(lock);
  }

  /** Inspected locks with waiters. */
  public List<SeenLock> waited() {
    List<SeenLock> waited = new ArrayList<>();
    for (String name : seen.hot()) {
      SeenLock lock = seen.get(name);
      if (lock != null && lock.isWaited() && lock.full()) {
        waited.add(lock);
      }
    }
    return waited;
  }

  /** A number that changes with every change. */
  public long version() {
    return seen.version();
  }

  /** The time between the begins of two surveys. */
  public Duration pause() {
    return Duration.ofNanos(viewers.isAnybodyThere() ? SURVEY : IDLE);
  }

  /** Reports a viewer, which speeds up observation. */
  public void watched() {
    Thread waiting = thread;
    if (viewers.came() && waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  /** Reports a lock that is open on a screen, to be inspected often for a while. */
  public void watched(String name) {
    viewers.open(name);
    watched();
  }

  /**
   * Inspects one lock now. Blocks for the store.
   *
   * @throws RuntimeException as {@link LockAdmin#find}
   */
  public SeenLock look(String name) {
    long asked = ticker.nanos();
    try {
      LockInfo info = admin.find(name).orElse(null);
      return seen.apply(
          info == null
              ? SeenLock.free(name, clock.instant(), asked)
              : SeenLock.of(info, clock.instant(), asked));
    } finally {
      long now = ticker.nanos();
      budget.chargeOnDemand(now, now - asked);
    }
  }

  /**
   * Like {@link #look}, but may return a result of the last 1.5 s, whichever request it was for.
   */
  public SeenLock recent(String name) {
    SeenLock known = seen.get(name);
    if (known == null) {
      return search(name, RECENT);
    }
    long age = Duration.between(known.at(), clock.instant()).toNanos();
    return known.full() && age < RECENT ? known : look(name);
  }

  /**
   * Inspects a lock that no survey has seen, or returns the last such result: the store is asked
   * once in two seconds, however many pages search for the name. Blocks for the store.
   *
   * @throws RuntimeException as {@link LockAdmin#find}
   */
  public SeenLock search(String name) {
    return search(name, HotTask.HOT);
  }

  private SeenLock search(String name, long age) {
    long now = ticker.nanos();
    Long asked = searched.get(name);
    if (asked != null && now - asked < age) {
      SeenLock known = seen.get(name);
      return known != null ? known : SeenLock.free(name, clock.instant(), asked);
    }
    SeenLock found = look(name);
    // Not before: failed and pending inspections have no result.
    if (searched.size() >= SEARCHED) {
      searched.clear();
    }
    searched.put(name, now);
    return found;
  }

  /**
   * Announces that this console will end a hold or wait, so that its end is reported as an
   * eviction.
   */
  public void evicting(ObservedEvent eviction) {
    seen.evicting(eviction);
  }

  /** Withdraws an announced eviction that did not happen. */
  public void notEvicted(ObservedEvent eviction) {
    seen.notEvicted(eviction);
  }

  /** Adds an action of this console. */
  public void tell(ObservedEvent event) {
    seen.tell(event);
  }

  /** Observes, on its own thread, until {@link #close}. */
  public void start() {
    Thread looking = new Thread(this::run, "mortise-console-observer");
    looking.setDaemon(true);
    thread = looking;
    looking.start();
  }

  private void run() {
    warmUp();
    while (!closed) {
      long nap = step();
      if (history != null) {
        history.flush(clock.instant());
      }
      if (nap > 0) {
        LockSupport.parkNanos(this, Math.min(nap, LONGEST_NAP));
      }
    }
    seen.tellUnexplained();
    if (history != null) {
      history.close(clock.instant());
    }
  }

  /**
   * Sends a tiny, uncounted request: the first one connects and loads classes. Counting that as the
   * store's time would delay the first survey by half a minute.
   */
  private void warmUp() {
    try {
      admin.list(LockQuery.all().summarized().page(null, 1));
      admin.sessions(null, 1);
    } catch (RuntimeException | Error e) {
      log.debug("The first request of the console has failed. The next one tells.", e);
    }
  }

  /** Stops observing. Waits briefly for the request in flight and for the history. */
  public void close() {
    closed = true;
    Thread running = thread;
    if (running == null) {
      if (history != null) {
        history.close();
      }
      return;
    }
    running.interrupt();
    try {
      running.join(CLOSING.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs one task if due. Returns the nanoseconds until the next one. */
  long step() {
    long now = ticker.nanos();
    long retry = viewers.isAnybodyThere() ? Math.min(retryAt, failedAt + WATCHED_RETRY) : retryAt;
    if (now < retry) {
      return retry - now;
    }
    long wait = budget.waitNanos(now);
    if (wait > 0) {
      return wait;
    }
    ObserverTask chosen = null;
    long next = Long.MAX_VALUE;
    for (ObserverTask task : tasks) {
      long due = task.dueIn(now);
      next = Math.min(next, due);
      if (due <= 0 && (chosen == null || task.lastRun < chosen.lastRun)) {
        chosen = task;
      }
    }
    if (chosen == null) {
      return next;
    }
    run(chosen, now);
    return 0;
  }

  private void run(ObserverTask task, long now) {
    task.lastRun = now;
    Instant asked = clock.instant();
    long most = Long.MAX_VALUE;
    try {
      task.run(now);
      answered();
    } catch (UnsupportedByStoreException e) {
      task.unsupported = true;
    } catch (RuntimeException | Error e) {
      failed(e, asked);
      task.restart();
      // Waiting for a silent store is not its work: the next retry is not delayed.
      most = (long) (budget.share() * WATCHED_RETRY);
    } finally {
      long after = ticker.nanos();
      budget.charge(after, Math.min(most, after - now));
    }
  }

  private void answered() {
    ObservedEvent gap = outages.answered(clock.instant());
    if (gap != null) {
      seen.tell(gap);
    }
  }

  private void failed(Throwable e, Instant asked) {
    failedAt = ticker.nanos();
    retryAt = failedAt + outages.failed(e, asked).toNanos();
  }

  private void watchCycles() {
    List<WaitCycle> now = cycleWatch.among(waited(), clock.instant());
    hotTask.suspect(cycleWatch.suspected());
    if (!now.equals(cycles)) {
      cycles = now;
      seen.changed();
    }
  }

  /** Surveys all locks. */
  private final class SurveyTask extends PagedTask {
    private Instant beganAt = Instant.EPOCH;
    private int found;

    SurveyTask() {
      super(viewers, SURVEY, IDLE);
    }

    @Override
    void begin() {
      beganAt = clock.instant();
      found = 0;
    }

    @Override
    @Nullable String page(@Nullable String from, long now) {
      Page<LockInfo> page = admin.list(LockQuery.all().summarized().page(from, PAGE));
      Instant at = clock.instant();
      for (LockInfo lock : page.items()) {
        if (!lock.name().startsWith(OF_DOCTOR)) {
          seen.apply(SeenLock.ofSummary(lock, at, now));
          found++;
        }
      }
      return page.next();
    }

    @Override
    void end(long began) {
      boolean kept = found <= SeenLocks.KEPT;
      seen.surveyed(began, clock.instant(), ticker.nanos(), kept);
      survey = new Survey(beganAt, Duration.ofNanos(ticker.nanos() - began), kept);
      watchCycles();
    }
  }

  /** Lists all sessions. */
  private final class SessionsTask extends PagedTask {
    /** Sessions that were alive when the list began, and that it has not shown yet. */
    private Set<String> expected = Set.of();

    SessionsTask() {
      super(viewers, SESSIONS, IDLE);
    }

    @Override
    void begin() {
      expected = seen.liveSessions();
    }

    @Override
    @Nullable String page(@Nullable String from, long now) {
      Page<SessionInfo> page = admin.sessions(from, PAGE);
      Instant at = clock.instant();
      for (SessionInfo session : page.items()) {
        seen.saw(session, at);
        expected.remove(session.session());
      }
      return page.next();
    }

    @Override
    void end(long began) {
      Instant now = clock.instant();
      seen.sawAllSessions(expected, now.minusNanos(ticker.nanos() - began), now);
    }
  }
}
