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
 * All locks as last observed, with the observed events. Readers see a lock before or after an
 * update, never in between.
 */
final class SeenLocks {
  /** The most locks kept; further locks without waiters are only counted. */
  static final int KEPT = 200_000;

  private static final int EVICTIONS = 1_000;
  private static final int BEGINS = 50_000;
  private static final int UNEXPLAINED = 10_000;
  private static final int NEXT = 100;

  /** The longest time that an end waits for its cause. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** The time that an inspection is trusted although a survey may be newer. */
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Map<String, SeenLock> locks = new ConcurrentHashMap<>();
  private final Set<String> hot = ConcurrentHashMap.newKeySet();
  private final Map<String, ObservedEvent> evictions = new ConcurrentHashMap<>();
  private final SeenSessions sessions = new SeenSessions();
  private final EventRing events = new EventRing(EventRing.KEPT);
  private final UsualHold usual = new UsualHold();
  private final Set<String> begins =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > BEGINS;
            }
          });

  /** Ends of holds whose cause is to be read from the lock's record. */
  private final List<ObservedEvent> unexplained = new ArrayList<>();

  /** Grants seen by an earlier console, without their end. */
  private final Map<String, ObservedEvent> openBefore = new HashMap<>();

  private final @Nullable HistoryFile history;
  private @Nullable Instant firstComplete;
  private @Nullable Instant complete;
  private volatile long version;

  /**
   * Starts empty.
   *
   * @param history the file of events; null for none
   */
  SeenLocks(@Nullable HistoryFile history) {
    this.history = history;
  }

  /** Restores the events of an earlier console. */
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

  /**
   * Reports holds that ended while no console ran, at an unknown time and for an unknown reason.
   */
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

  /** The locks to be inspected often. */
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

  /** A number that changes with every change. */
  long version() {
    return version;
  }

  /** Applies a look unless a later one is known; returns the present state. */
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

  /** Whether a look is news. A hold becomes long by time alone. */
  private boolean isNews(SeenLock before, SeenLock next) {
    return !next.looksLike(before) || usual.isLong(next) != usual.isLong(before);
  }

  /** Records a change of data kept elsewhere. */
  synchronized void changed() {
    version++;
  }

  /**
   * Merges a survey's summary with the last inspection, which has more details. For a lock that is
   * inspected often the inspection stands, as of its time, while it is fresh or surveys agree with
   * it.
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
   * Records a complete survey: locks that it did not find are free.
   *
   * @param kept whether the number of locks was within the limit
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

  /** Records a listed process. */
  void saw(SessionInfo session, Instant at) {
    tellAll(sessions.saw(session, at));
  }

  /**
   * Records a complete list of processes: others have ended, even if never listed. Their locks, if
   * shown as held by a survey, are to be inspected.
   *
   * @param began the begin of the list, which has all live holders of older holds
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

  /** Reports events of processes; before the first complete survey they are not new. */
  synchronized void tellAll(List<ObservedEvent> about) {
    if (complete != null) {
      about.forEach(this::tell);
    }
  }

  /** Announces that this console will end a hold. */
  void evicting(ObservedEvent eviction) {
    if (evictions.size() > EVICTIONS) {
      evictions.clear();
    }
    evictions.put(key(eviction), eviction);
  }

  /** Withdraws an announced eviction that did not happen. */
  void notEvicted(ObservedEvent eviction) {
    evictions.remove(key(eviction), eviction);
  }

  /** The sessions of processes last seen alive. */
  synchronized Set<String> liveSessions() {
    return sessions.live();
  }

  /**
   * Whether a grant or wait is no news: it was found before the end of the first survey, so that it
   * may be older than the console, or was reported before.
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

  /** Whether its lock's record may have the cause of the end, or show that it was no loss. */
  private boolean isUnexplained(ObservedEvent event) {
    return (event.kind() == ObservedKind.ENDED || event.kind() == ObservedKind.LOST)
        && event.lock() != null
        && !evictions.containsKey(key(event));
  }

  /** The next locks whose record is to be read for the cause of an end, the oldest end first. */
  synchronized Set<String> unexplained() {
    Set<String> names = new LinkedHashSet<>();
    for (int i = 0; i < unexplained.size() && names.size() < NEXT; i++) {
      names.add(String.valueOf(unexplained.get(i).lock()));
    }
    return names;
  }

  /** Reports ends whose cause an inspection shows, or is no longer recorded. */
  private void explain(SeenLock look) {
    EndedHold told = look.info().lastEnd();
    tellUnexplained(event -> look.name().equals(event.lock()), told);
  }

  /** Reports ends still without a cause. */
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

  /** The key of the hold or wait, or else of the lock. */
  private static String key(ObservedEvent event) {
    String attempt = event.attempt();
    return attempt == null ? "lock " + event.lock() : attempt;
  }

  /** Whether an observed event may be the one done by this console. */
  private static boolean mayBe(ObservedEvent seen, ObservedEvent done) {
    return !done.at().isAfter(seen.at()) && !done.at().isBefore(seen.at().minus(seen.doubt()));
  }
}
