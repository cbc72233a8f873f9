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
 * Looks at a store for all pages together, at three speeds: a survey of all locks; a look each two
 * seconds at those that matter, such as those that are waited for; and a look at one when somebody
 * asks for it. The first two keep to a budget. Without anybody who watches, only the survey goes
 * on, once a minute.
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

  /** The lock that {@code mortise doctor} takes. */
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
   * @param asOf when it began; null before the first has ended
   * @param took from its begin to its end
   * @param complete whether all locks are in the list
   */
  public record Survey(@Nullable Instant asOf, Duration took, boolean complete) {}

  /** Looks by this client, with a share of the store's time, and remembers until it ends. */
  public Observer(LockAdmin admin, double share, Ticker ticker, InstantSource clock) {
    this(admin, share, null, ticker, clock);
  }

  /**
   * Looks by this client, with a share of the store's time.
   *
   * @param history that keeps what was seen, and has what was seen before; null for none
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

  /** When it began. */
  public Instant started() {
    return started;
  }

  /** When its history begins: before it, if a console ran before. */
  public Instant watchedSince() {
    return watchedSince;
  }

  /** Now, by its clock. */
  public Instant now() {
    return clock.instant();
  }

  /** Null while the store answers. */
  public Outages.@Nullable Outage outage() {
    return outages.current();
  }

  /** The last survey. */
  public Survey survey() {
    return survey;
  }

  /** When the last list of all sessions began; of a store that has none, the last survey. */
  public @Nullable Instant sessionsAsOf() {
    return seen.sessions().listedAt(survey.asOf());
  }

  /** The last times in which nothing was seen, the oldest first. */
  public List<Outages.Gap> gaps() {
    return outages.gaps();
  }

  /** The share of the store's time that it may take. */
  public double share() {
    return budget.share();
  }

  /** What it has taken of the store's time. */
  public LookCost cost() {
    return budget.cost(ticker.nanos());
  }

  /** All locks that were seen, in no order. */
  public Collection<SeenLock> locks() {
    return seen.all();
  }

  /** A lock as it was seen; null if it was not. */
  public @Nullable SeenLock lock(String name) {
    return seen.get(name);
  }

  /** All processes that were seen. */
  public List<SeenSession> sessions() {
    return seen.sessions().all();
  }

  /** A process that was seen; null if it was not. */
  public @Nullable SeenSession session(String session) {
    return seen.sessions().get(session);
  }

  /** What was seen to happen. */
  public EventRing events() {
    return seen.events();
  }

  /** Possible deadlocks that have lasted. */
  public List<WaitCycle> cycles() {
    return cycles;
  }

  /** How long a lock of this name is held as a rule; null if that is not known. */
  public @Nullable Duration usual(String name) {
    return seen.usual().of(name);
  }

  /** Whether it is held unusually long. */
  public boolean isLong(SeenLock lock) {
    return seen.usual().isLong(lock);
  }

  /** Locks that somebody waits for, as far as they were looked at. */
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

  /** Another number whenever something has changed. */
  public long version() {
    return seen.version();
  }

  /** How long a survey waits after the begin of the one before. */
  public Duration pause() {
    return Duration.ofNanos(viewers.isAnybodyThere() ? SURVEY : IDLE);
  }

  /** Somebody is looking: be quick. */
  public void watched() {
    Thread waiting = thread;
    if (viewers.came() && waiting != null) {
      LockSupport.unpark(waiting);
    }
  }

  /** A lock is open on a screen: look at it often for a while. */
  public void watched(String name) {
    viewers.open(name);
    watched();
  }

  /**
   * Looks at one lock now. Blocks for the store.
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

  /** As {@link #look}, or what a look at most 1.5 s ago has shown, for whomever it was. */
  public SeenLock recent(String name) {
    SeenLock known = seen.get(name);
    if (known == null) {
      return search(name, RECENT);
    }
    long age = Duration.between(known.at(), clock.instant()).toNanos();
    return known.full() && age < RECENT ? known : look(name);
  }

  /**
   * Looks at a lock that no survey has seen, or takes what the last such look has shown: however
   * many pages search for a name, the store is asked once in two seconds. Blocks for the store.
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
    // Not before: a look that failed, or still waits, has shown nothing.
    if (searched.size() >= SEARCHED) {
      searched.clear();
    }
    searched.put(name, now);
    return found;
  }

  /** A hold or wait that this console is about to end: tell its end as such. */
  public void evicting(ObservedEvent eviction) {
    seen.evicting(eviction);
  }

  /** It was not ended by this console, after all. */
  public void notEvicted(ObservedEvent eviction) {
    seen.notEvicted(eviction);
  }

  /** Adds what this console did itself. */
  public void tell(ObservedEvent event) {
    seen.tell(event);
  }

  /** Looks, on a thread of its own, until {@link #close}. */
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
   * Asks for next to nothing, which is not counted: the first request connects and loads classes.
   * That time is not the store's, and counted as its own it would put off the first survey for half
   * a minute.
   */
  private void warmUp() {
    try {
      admin.list(LockQuery.all().summarized().page(null, 1));
      admin.sessions(null, 1);
    } catch (RuntimeException | Error e) {
      log.debug("The first request of the console has failed. The next one tells.", e);
    }
  }

  /** Looks no more. Waits a moment for the look that goes on, and for the history. */
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

  /** Does one look if one is due. Returns how many nanoseconds to wait for the next one. */
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
      // Waiting for a store that stands still is not its work: it is asked again when that is due.
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
    /** Those that were alive when the list began and that it has not shown yet. */
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
