package io.mortise.bench.subject;

import static io.mortise.bench.subject.Subjects.Trait.ACROSS;
import static io.mortise.bench.subject.Subjects.Trait.KEEPS;
import static io.mortise.bench.subject.Subjects.Trait.OWN;
import static io.mortise.bench.subject.Subjects.Trait.PAIRS;
import static io.mortise.bench.subject.Subjects.Trait.WAITS;

import io.mortise.LockOptions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** Everything that can be measured, and what it can take part in. */
@SuppressWarnings("ImmutableEnumChecker") // Its set is never changed, its openers have no state.
public enum Subjects {
  REENTRANT(Place.PROCESS, stores -> new InProcess(new ReentrantLock()), PAIRS, WAITS),
  REENTRANT_FAIR(Place.PROCESS, stores -> new InProcess(new ReentrantLock(true)), PAIRS, WAITS),
  MORTISE_MEM(
      Place.PROCESS, stores -> new Mortise("mem:", LockOptions.DEFAULTS), OWN, PAIRS, WAITS),
  MORTISE_MEM_FAIR(Place.PROCESS, stores -> new Mortise("mem:", Mortise.FAIR), OWN, WAITS),

  MORTISE_REDIS(
      Place.REDIS,
      stores -> new Mortise(stores.redis(), LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS,
      KEEPS),
  MORTISE_REDIS_ASYNC(
      Place.REDIS, stores -> new Mortise(stores.redis(), Mortise.ASYNC), OWN, PAIRS, WAITS, ACROSS),
  MORTISE_REDIS_FAIR(
      Place.REDIS, stores -> new Mortise(stores.redis(), Mortise.FAIR), OWN, WAITS, ACROSS),
  REDISSON(Place.REDIS, RedissonLocks::new, PAIRS, WAITS, ACROSS, KEEPS),
  SPRING_INTEGRATION(Place.REDIS, SpringLocks::new, PAIRS, WAITS, ACROSS),
  SHEDLOCK(Place.REDIS, ShedLockLocks::new, PAIRS),
  LETTUCE_PAIR(Place.REDIS, LettucePair::new, PAIRS),
  JEDIS_PAIR(Place.REDIS, JedisPair::new, PAIRS),
  BLPOP(Place.REDIS, BlockingPop::new, WAITS, ACROSS),

  MORTISE_SQLITE(
      Place.SQLITE,
      stores -> new Mortise("jdbc:sqlite:" + stores.sqlite(), LockOptions.DEFAULTS),
      OWN,
      PAIRS,
      WAITS,
      ACROSS),
  SQLITE_STATEMENTS(Place.SQLITE, SqliteStatements::new, PAIRS);

  /** Which store a subject's locks are in. */
  public enum Place {
    PROCESS,
    REDIS,
    SQLITE
  }

  /** What a subject is, and which workloads it can take part in. */
  public enum Trait {
    /** Ours, not a peer. */
    OWN,
    /** Can be taken and given back without contention. */
    PAIRS,
    /** Its acquire can wait. */
    WAITS,
    /** Its locks hold between processes, and its acquire can wait for another process. */
    ACROSS,
    /** Keeps a held lock alive by itself. */
    KEEPS
  }

  private interface Opener {
    Subject open(Stores stores) throws Exception;
  }

  private final Place place;
  private final Opener opener;
  private final Set<Trait> traits;

  Subjects(Place place, Opener opener, Trait... traits) {
    this.place = place;
    this.opener = opener;
    this.traits = EnumSet.copyOf(Arrays.asList(traits));
  }

  /** All of a place that have a trait, in the order above. */
  public static List<Subjects> of(Place place, Trait trait) {
    return Arrays.stream(values()).filter(s -> s.place == place && s.is(trait)).toList();
  }

  /** Connects. Blocks. */
  public Subject open(Stores stores) throws Exception {
    return opener.open(stores);
  }

  /** Where its locks are. */
  public Place place() {
    return place;
  }

  /** Whether it has a trait. */
  public boolean is(Trait trait) {
    return traits.contains(trait);
  }

  /** What people call it: lower case, with hyphens. */
  public String label() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }
}
