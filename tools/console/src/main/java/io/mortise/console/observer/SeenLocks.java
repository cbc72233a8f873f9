package io.mortise.console.observer;

import io.mortise.admin.EndedHold;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.SessionInfo;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All locks as they were seen last, and what was seen to happen. Readers see a lock before or after
 * a look, never in between.
 */
final class SeenLocks {
  /** Above it, locks that nobody waits for are counted, and not kept. */
  static final int KEPT = 200_000;

  private static final int EVICTIONS = 1_000;
  private static final int BEGINS = 50_000;
  private static final int UNEXPLAINED = 10_000;
  private static final int NEXT = 100;

  /** For how long an end waits to be explained. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** For how long a look is believed although a survey may say more. */
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Map<String, SeenLock> locks = new ConcurrentHashMap<>();
  private final Set<String> hot = ConcurrentHashMap.newKeySet();
  private final Map<String, ObservedEvent> evictions = new ConcurrentHashMap<>();
  private final SeenSessions sessions = new SeenSessions();
  private final EventRing events = new EventRing(EventRing.KEPT);
  private final UsualHold usual = new UsualHold();
  private final Set<String> begins = Collections.newSetFromMap(new BoundedMap());

  /** Ends of holds of which the record of the lock is to be asked how they came about. */
  private final List<ObservedEvent> unexplained = new ArrayList<>();

  /** Grants that a console before this one saw, and no end of them. */
  private final Map<String, ObservedEvent> openBefore = new HashMap<>();

  private final @Nullable HistoryFile history;
  private @Nullable Instant firstComplete;
  private @Nullable Instant complete;
  private volatile long version;

  /**
   * Nothing was seen yet.
   *
   * @param history that keeps events; null for none
   */
  SeenLocks(@Nullable HistoryFile history) {
    this.history = history;
  }

  /** What a console has seen that ran before. */
  synchronized void restore(HistoryFile.SavedHistory past, Instant now) {
    events.restore(past.events());
    for (ObservedEvent event : past.events()) {
      String attempt = event.attempt();
      if (event.kind() == ObservedKind.GRANTED && attempt != null) {
        begins.add(event.kind() + " " + attempt);
        openBefore.put(attempt, event);
      } else if (event.kind() == ObservedKind.WAITING) {
        begins.add(event.kind() + " " + attempt);
      } else if (attempt != null) {
        openBefore.remove(attempt);
        addUsual(event);
      }
    }
    Duration away = Duration.between(past.alive(), now);
    if (!away.isNegative()) {
      keep(
          ObservedEvent.gap(
              past.alive(), now, "the console did not run for " + DurationText.format(away)));
    }
  }

  /** Tells holds that have ended while no console ran: nobody knows when, nor how. */
  private void tellEndedBefore(Instant now) {
    for (SeenLock lock : locks.values()) {
      String first = lock.firstAttempt();
      lock.info().holders().forEach(party -> openBefore.remove(party.attempt()));
      if (first != null) {
        openBefore.remove(first);
      }
      if (!lock.full() && lock.holders() != 1) {
        openBefore.values().removeIf(grant -> lock.name().equals(grant.lock()));
      }
    }
    openBefore.values().stream()
        .sorted(Comparator.comparing(ObservedEvent::seq))
        .forEach(grant -> tell(grant.endedUnseen(now)));
  }

  Collection<SeenLock> all() {
    return locks.values();
  }

  @Nullable SeenLock get(String name) {
    return locks.get(name);
  }

  /** Those to be looked at often. */
  Set<String> hot() {
    return hot;
  }

  SeenSessions sessions() {
    return sessions;
  }

  EventRing events() {
    return events;
  }

  UsualHold usual() {
    return usual;
  }

  /** Another number whenever something has changed. */
  long version() {
    return version;
  }

  /** Takes in a look, unless a later one is there already. Returns what is known now. */
  SeenLock apply(SeenLock look) {
    return apply(look, false);
  }

  /**
   * The same.
   *
   * @param isOpen whether it is on a screen: then it is kept, however many there are
   */
  synchronized SeenLock apply(SeenLock look, boolean isOpen) {
    SeenLock known = update(look, isOpen);
    if (look.full()) {
      explain(look);
    }
    return known;
  }

  private synchronized SeenLock update(SeenLock look, boolean isOpen) {
    SeenLock before = locks.get(look.name());
    if (before != null && before.nanos() > look.nanos()) {
      return before;
    }
    SeenLock next = before == null ? look : merged(before, look);
    next.info().holders().forEach(party -> saw(party, next.at()));
    next.info().waiters().forEach(party -> saw(party, next.at()));
    Instant since = before == null ? complete : before.at();
    if (since != null) {
      SeenLock base = before == null ? SeenLock.free(look.name(), since, 0) : before;
      ChangeDetector.changes(base, next).forEach(this::tell);
    }
    if (next.isFree()) {
      locks.remove(next.name());
    } else if (before != null || locks.size() < KEPT || next.isWaited() || isOpen) {
      locks.put(next.name(), next);
    }
    if (isHot(next)) {
      hot.add(next.name());
    } else {
      hot.remove(next.name());
    }
    if (before == null ? !next.isFree() : isNews(before, next)) {
      version++;
    }
    return next;
  }

  /** Time alone makes a hold long. */
  private boolean isNews(SeenLock before, SeenLock next) {
    return !next.looksLike(before) || usual.isLong(next) != usual.isLong(before);
  }

  /** Something has changed that is kept elsewhere. */
  synchronized void changed() {
    version++;
  }

  /**
   * A survey tells less than a look. While a lock is looked at often, the next look will tell what
   * has changed, and until then the last one stands, as of then; for as long as surveys show the
   * same.
   */
  private SeenLock merged(SeenLock before, SeenLock look) {
    boolean waits =
        !look.full()
            && before.full()
            && hot.contains(before.name())
            && (look.agrees(before)
                || Duration.between(before.at(), look.at()).compareTo(FRESH) < 0);
    return waits ? before.askedAgain(look.nanos()) : look;
  }

  private boolean isHot(SeenLock lock) {
    if (lock.isFree()) {
      return false;
    }
    return lock.isWaited()
        || lock.condition() == Condition.GONE
        || lock.condition() == Condition.SHUT
        || usual.isLong(lock)
        || isOver(lock.firstAttempt());
  }

  private boolean isOver(@Nullable String attempt) {
    SeenSession session = attempt == null ? null : sessions.get(SeenLock.session(attempt));
    return session != null && session.over();
  }

  private boolean isUnknown(@Nullable String attempt) {
    return attempt != null && sessions.get(SeenLock.session(attempt)) == null;
  }

  /**
   * A survey has been through all locks: those that it did not find are free.
   *
   * @param kept whether it had no more locks than are kept
   */
  synchronized void surveyed(long began, Instant at, long nanos, boolean kept) {
    List<SeenLock> gone = new ArrayList<>();
    for (SeenLock lock : locks.values()) {
      if (lock.nanos() < began) {
        gone.add(SeenLock.free(lock.name(), at, nanos));
      }
    }
    tellUnexplained(event -> event.at().isBefore(at.minus(PATIENCE)), null);
    gone.forEach(lock -> update(lock, false));
    complete = at;
    if (firstComplete == null) {
      firstComplete = at;
      if (kept) {
        tellEndedBefore(at);
      }
      openBefore.clear();
    }
    sessions.forget(at);
    version++;
  }

  private void saw(LockParticipant party, Instant at) {
    tellAll(sessions.saw(party, at));
  }

  /** A process was listed. */
  void saw(SessionInfo session, Instant at) {
    tellAll(sessions.saw(session, at));
  }

  /**
   * All processes were listed: others are over, also those that no list has ever had. Their locks,
   * which a survey shows as held, are to be looked at.
   *
   * @param began when the list began: the holder of an older hold is in it, or over
   */
  synchronized void sawAllSessions(Set<String> missing, Instant began, Instant at) {
    sessions.listed(began);
    tellAll(sessions.missed(missing, at));
    for (SeenLock lock : locks.values()) {
      String first = lock.firstAttempt();
      if (isOver(first) || (isUnknown(first) && lock.heldSince().isBefore(began))) {
        hot.add(lock.name());
      }
    }
    version++;
  }

  /** What concerns processes; before the first survey is complete, those are not new. */
  synchronized void tellAll(List<ObservedEvent> about) {
    if (complete != null) {
      about.forEach(this::tell);
    }
  }

  /** A hold that this console is about to end. */
  void evicting(ObservedEvent eviction) {
    if (evictions.size() > EVICTIONS) {
      evictions.clear();
    }
    evictions.put(key(eviction), eviction);
  }

  /** It was not this console that ended it. */
  void notEvicted(ObservedEvent eviction) {
    evictions.remove(key(eviction), eviction);
  }

  /** The sessions of processes that live, as far as was seen. */
  synchronized Set<String> liveSessions() {
    return sessions.live();
  }

  /**
   * Whether a grant or wait is no news. It is none if it was found before the end of the first
   * survey, since it may be older than the console, or if it was told before.
   */
  private boolean isKnown(ObservedEvent event) {
    if (event.kind() != ObservedKind.GRANTED && event.kind() != ObservedKind.WAITING) {
      return false;
    }
    Instant first = firstComplete;
    return first == null
        || event.at().isBefore(first)
        || !begins.add(event.kind() + " " + event.attempt());
  }

  synchronized void tell(ObservedEvent event) {
    if (isKnown(event)) {
      return;
    }
    if (isUnexplained(event) && unexplained.size() < UNEXPLAINED) {
      unexplained.add(event);
    } else {
      keep(event);
    }
  }

  /** Whether the record of its lock may tell how it has ended, or that it was no loss. */
  private boolean isUnexplained(ObservedEvent event) {
    return (event.kind() == ObservedKind.ENDED || event.kind() == ObservedKind.LOST)
        && event.lock() != null
        && !evictions.containsKey(key(event));
  }

  /** The next locks whose record is to be asked how a hold has ended, the oldest end first. */
  synchronized Set<String> unexplained() {
    Set<String> names = new LinkedHashSet<>();
    for (int i = 0; i < unexplained.size() && names.size() < NEXT; i++) {
      names.add(String.valueOf(unexplained.get(i).lock()));
    }
    return names;
  }

  /** Tells the ends that a look at their lock explains, or else cannot be explained any more. */
  private void explain(SeenLock look) {
    EndedHold told = look.info().lastEnd();
    tellUnexplained(event -> look.name().equals(event.lock()), told);
  }

  /** Tells the ends that nobody has explained yet. */
  synchronized void tellUnexplained() {
    tellUnexplained(event -> true, null);
  }

  private synchronized void tellUnexplained(
      Predicate<ObservedEvent> which, @Nullable EndedHold told) {
    if (unexplained.isEmpty()) {
      return;
    }
    List<ObservedEvent> ended = unexplained.stream().filter(which).toList();
    unexplained.removeIf(which);
    for (ObservedEvent event : ended) {
      keep(told != null && told.attempt().equals(event.attempt()) ? event.explained(told) : event);
    }
  }

  private synchronized void keep(ObservedEvent event) {
    ObservedEvent told = event;
    String session = event.session();
    if (event.client() == null && session != null) {
      SeenSession known = sessions.get(session);
      told = known == null ? told : told.by(known.client());
    }
    if (event.kind() == ObservedKind.RELEASED
        || event.kind() == ObservedKind.ENDED
        || event.kind() == ObservedKind.LOST
        || event.kind() == ObservedKind.EVICTED
        || event.kind() == ObservedKind.GAVE_UP
        || event.kind() == ObservedKind.OPENED) {
      ObservedEvent eviction = evictions.remove(key(event));
      if (eviction != null && (event.attempt() != null || mayBe(event, eviction))) {
        told = told.as(eviction.kind(), eviction.text());
      }
    }
    if (told.kind() == ObservedKind.ENDED) {
      told = told.unexplained();
    }
    addUsual(told);
    ObservedEvent kept = events.add(told);
    if (history != null) {
      history.append(kept);
    }
    version++;
  }

  private void addUsual(ObservedEvent told) {
    Duration held = told.held();
    String lock = told.lock();
    if ((told.kind() == ObservedKind.RELEASED || told.kind() == ObservedKind.ENDED)
        && held != null
        && lock != null
        && told.doubt().compareTo(held) < 0) {
      usual.add(lock, held.minus(told.doubt().dividedBy(2)));
    }
  }

  /** Of the hold or wait; of the lock where there is none. */
  private static String key(ObservedEvent event) {
    String attempt = event.attempt();
    return attempt == null ? "lock " + event.lock() : attempt;
  }

  /** Whether what was seen to happen may have happened then. */
  private static boolean mayBe(ObservedEvent seen, ObservedEvent done) {
    return !done.at().isAfter(seen.at()) && !done.at().isBefore(seen.at().minus(seen.doubt()));
  }

  /** Forgets the oldest. */
  private static final class BoundedMap extends LinkedHashMap<String, Boolean> {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
      return size() > BEGINS;
    }
  }
}
