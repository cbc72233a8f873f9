package io.mortise.console.observer;

import io.mortise.console.view.LockFormatter.Condition;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Possible problems of a lock, the worst first. */
public enum Trouble {
  CYCLE(0),
  GONE(1),
  LONG(2),
  WAITED(3),
  SHUT(4);

  /** The rank of a lock without problems. */
  public static final int NO_RANK = 5;

  private final int rank;

  Trouble(int rank) {
    this.rank = rank;
  }

  /** Its rank. */
  public int rank() {
    return rank;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Finds problems of locks by an observer's present knowledge. */
  public static final class Finder {
    private final Observer observer;
    private final Set<String> inCycles = new HashSet<>();

    /** Creates a finder for this moment. */
    public Finder(Observer observer) {
      this.observer = observer;
      for (WaitCycle cycle : observer.cycles()) {
        inCycles.addAll(cycle.locks());
      }
    }

    /** The problems of a lock, in order. */
    public Set<Trouble> of(SeenLock lock) {
      boolean shut = !lock.info().shutFor().isZero();
      boolean gone = condition(lock) == Condition.GONE;
      boolean isLong = observer.isLong(lock);
      boolean inCycle = inCycles.contains(lock.name());
      if (!shut && !gone && !isLong && !inCycle && !lock.isWaited()) {
        return Set.of();
      }
      Set<Trouble> found = EnumSet.noneOf(Trouble.class);
      if (inCycle) {
        found.add(CYCLE);
      }
      if (gone) {
        found.add(GONE);
      }
      if (isLong) {
        found.add(LONG);
      }
      if (lock.isWaited()) {
        found.add(WAITED);
      }
      if (shut) {
        found.add(SHUT);
      }
      return found;
    }

    /**
     * The condition of a lock. A survey shows a dead holder as holding, so the state of its process
     * decides. A lock last seen before its process ended may have been released in between.
     */
    public Condition condition(SeenLock lock) {
      String attempt = lock.firstAttempt();
      if (!lock.full() && lock.condition() == Condition.HELD && attempt != null) {
        SeenSession session = observer.session(SeenLock.session(attempt));
        Instant over = session == null ? null : session.overSince();
        if (lock.holders() == 1 && over != null && lock.at().isAfter(over)) {
          return Condition.GONE;
        }
      }
      return lock.condition();
    }
  }

  /** The names of problems, for people and programs. */
  public static List<String> words(Set<Trouble> troubles) {
    return troubles.stream().map(Trouble::toString).toList();
  }
}
