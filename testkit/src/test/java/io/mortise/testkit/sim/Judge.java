package io.mortise.testkit.sim;

import io.mortise.LockName;
import io.mortise.Terms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.testkit.history.Event;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.Violation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sees all, knows true time, and says which property was broken. What processes believe becomes a
 * history for the {@link HistoryChecks}; what the store does is judged as it happens.
 */
final class Judge {
  private final World world;
  private final Scenario scenario;
  private final List<Event> events = new ArrayList<>();
  private final List<Violation> found = new ArrayList<>();
  private final Map<String, Try> tries = new LinkedHashMap<>();
  private final Map<String, Lock> locks = new HashMap<>();
  private final Map<AttemptId, Long> queuedAt = new HashMap<>();
  private final Map<AttemptId, Long> handedAt = new HashMap<>();
  private final Map<AttemptId, Long> metAt = new HashMap<>();
  private final Map<AttemptId, Long> wantedKnownAt = new HashMap<>();
  private final Map<AttemptId, Terms> terms = new HashMap<>();
  private final Set<String> broken = new HashSet<>();
  private final Set<String> evicted = new HashSet<>();
  int grants;
  int losses;

  /** How long the store remembers an end. */
  long retention = Long.MAX_VALUE;

  /** One acquire of an actor. */
  static final class Try {
    final Life life;
    final String id;
    final String lock;
    final SimLock.Way way;
    final boolean once;
    final long askedAt;
    long grantedAt = Long.MAX_VALUE;
    long waitedUntil = Long.MAX_VALUE;
    long believesUntil;

    /** At the latest, if it was asked for after the grant. */
    long keptShutUntil;

    long token;
    boolean narrowed;
    boolean over;
    long overAt;

    Try(Life life, String id, String lock, SimLock.Way way, boolean once, long askedAt) {
      this.life = life;
      this.id = id;
      this.lock = lock;
      this.way = way;
      this.once = once;
      this.askedAt = askedAt;
    }

    /** When the lock is free again, if all goes well. */
    long freeAt() {
      long free = over ? Math.min(overAt, believesUntil) : believesUntil;
      java.time.Duration atLeast = way.options().terms().atLeast();
      long shut = atLeast == null ? 0 : grantedAt + atLeast.toNanos();
      return Math.max(free, Math.max(shut, keptShutUntil));
    }

    void end(long now) {
      if (!over) {
        over = true;
        overAt = now;
        waitedUntil = Math.min(waitedUntil, now);
      }
    }
  }

  /** A block of tokens that the store minted for an attempt. */
  record Block(AttemptId attempt, long first, int size) {
    long last() {
      return first + size - 1;
    }
  }

  private static final class Lock {
    final TreeMap<Long, Block> blocks = new TreeMap<>();
    long greatest;
    long shutUntilMicros;
    AttemptId shutBy;
    long high;
    String highBy = "";
    Reply.@Nullable Ended lastEnd;
    long lastEndAt;

    /** The last token that was forgotten, and by which server. */
    long forgottenTo;

    int forgottenBy;
  }

  Judge(World world, Scenario scenario) {
    this.world = world;
    this.scenario = scenario;
  }

  private Lock lock(String name) {
    return locks.computeIfAbsent(name, unused -> new Lock());
  }

  void violation(String rule, String lock, String message) {
    world.trace(() -> "VIOLATION of " + rule + " on " + lock + ": " + message);
    found.add(new Violation(rule, lock, message, List.of()));
  }

  // ---- What processes do and learn ----

  void asked(Life life, String id, SimLock lock, SimLock.Way way, boolean once) {
    world.trace(() -> id + " asks for " + lock.name + " " + way.mode() + (once ? " once" : ""));
    tries.put(id, new Try(life, id, lock.name, way, once, world.now()));
    events.add(new Event.Asked(world.now(), id, life.name, lock.name, way.mode()));
  }

  void gaveUp(Life life, String id) {
    world.trace(() -> id + " gives up");
    Try attempt = tries.get(id);
    attempt.waitedUntil = Math.min(attempt.waitedUntil, world.now());
    events.add(new Event.GaveUp(world.now(), id));
  }

  void failed(Life life, String id, Throwable failure) {
    Try attempt = tries.get(id);
    if (attempt.waitedUntil == Long.MAX_VALUE) {
      world.trace(() -> id + " ends its wait: " + failure);
      attempt.waitedUntil = world.now();
      events.add(new Event.GaveUp(world.now(), id));
    }
  }

  void granted(Life life, String id, long token, long until) {
    grants++;
    Try attempt = tries.get(id);
    attempt.grantedAt = world.now();
    attempt.waitedUntil = Math.min(attempt.waitedUntil, world.now());
    attempt.token = token;
    attempt.believesUntil = until;
    world.trace(() -> id + " holds with token " + token + " until " + until / 1e6 + " ms");
    events.add(new Event.Granted(world.now(), id, token, until));
    if (!scenario.has(Fault.SUSPEND)) {
      // A host that slept learns of it at its next renewal.
      checkBond(life, attempt);
    }
    checkPasses(attempt);
  }

  void extended(Life life, String id, long until) {
    Try attempt = tries.get(id);
    attempt.believesUntil = until;
    events.add(new Event.Extended(world.now(), id, until));
    // Else an answer other than to a renewal may have moved it, before the sleep was noticed.
    if (!scenario.has(Fault.SUSPEND) || !attempt.lock.startsWith("timed")) {
      checkBond(life, attempt);
    }
  }

  void note(Supplier<String> line) {
    world.trace(line);
  }

  /** From now on the holder counts on no more than a share. */
  void narrowed(String id) {
    world.trace(() -> id + " narrows its hold");
    tries.get(id).narrowed = true;
    events.add(new Event.Narrowed(world.now(), id, Mode.SHARED));
  }

  /** The at-least time counts anew from when the store does what is sent now. */
  void keepsShut(String id, long until) {
    Try attempt = tries.get(id);
    attempt.keptShutUntil = Math.max(attempt.keptShutUntil, until);
  }

  void released(Life life, String id) {
    world.trace(() -> id + " releases");
    end(id);
    events.add(new Event.Released(world.now(), id));
  }

  void releaseAnswered(Life life, String id, Throwable failure) {
    if (failure != null) {
      world.trace(() -> id + " learns at its release: " + failure);
    }
  }

  void lost(Life life, String id) {
    losses++;
    world.trace(() -> id + " is told of its loss");
    end(id);
    events.add(new Event.Lost(world.now(), id));
  }

  private void end(String id) {
    tries.get(id).end(world.now());
  }

  void died(Life life) {
    world.trace(() -> life + " dies");
    for (Try attempt : tries.values()) {
      if (attempt.life == life) {
        attempt.end(world.now());
      }
    }
    events.add(new Event.Died(world.now(), life.name));
  }

  /** What a holder may believe in ends before its session does in the store. */
  private void checkBond(Life life, Try attempt) {
    SessionId session = life.store.latestSession();
    boolean steady =
        !scenario.has(Fault.CLOCK_FORWARD)
            && !scenario.has(Fault.STATE_LOSS)
            && !scenario.has(Fault.CLOCK_BACK);
    if (steady && attempt.believesUntil > world.now() && session != null) {
      long lives = life.livesUntil(session);
      if (attempt.believesUntil >= lives) {
        violation(
            "bond",
            attempt.lock,
            attempt.id
                + " believes until "
                + attempt.believesUntil
                + " ns, its session ends at "
                + lives
                + " ns.");
      }
    }
  }

  /** Once it is known that another process waits, local hand-over ends soon. */
  private void checkPasses(Try attempt) {
    Map.Entry<Long, Block> entry = lock(attempt.lock).blocks.floorEntry(attempt.token);
    if (entry == null || entry.getValue().last() < attempt.token) {
      if (!broken.contains(attempt.lock)) {
        violation("mint", attempt.lock, attempt.id + " has a token that was never minted.");
      }
      return;
    }
    Block block = entry.getValue();
    Long known = wantedKnownAt.get(block.attempt());
    boolean passed = attempt.token != block.first();
    if (!passed && known != null) {
      // It could not be passed on before.
      wantedKnownAt.put(block.attempt(), Math.max(known, attempt.life.host.nanos()));
    }
    if (passed && known != null && attempt.life.host.nanos() - known > 5_100_000) {
      violation(
          "bounded passes",
          attempt.lock,
          attempt.id
              + " got the lock from its own process "
              + (attempt.life.host.nanos() - known)
              + " ns after it was known that another waits.");
    }
  }

  /** A holder writes to the resource, which compares tokens. */
  void write(Life life, String id) {
    Try attempt = tries.get(id);
    if (!attempt.way.write() || attempt.narrowed) {
      return;
    }
    Lock lock = lock(attempt.lock);
    boolean accepted =
        attempt.token > lock.high || (attempt.token == lock.high && id.equals(lock.highBy));
    if (accepted) {
      lock.high = attempt.token;
      lock.highBy = id;
    } else if (attempt.token == lock.high) {
      violation("checking resource", attempt.lock, id + " and " + lock.highBy + " share a token.");
    } else if (judgesBelief(attempt.lock) && !attempt.over && attempt.believesUntil > world.now()) {
      violation(
          "checking resource",
          attempt.lock,
          id + " holds, but its token " + attempt.token + " is behind " + lock.high + ".");
    }
  }

  private boolean judgesBelief(String lock) {
    return scenario.keepsBelief() && !broken.contains(lock);
  }

  void queued(AttemptId attempt) {
    queuedAt.putIfAbsent(attempt, world.now());
  }

  /**
   * @param at on the clock of the process: it is allowed some time by that
   */
  void knowsWanted(AttemptId attempt, long at) {
    wantedKnownAt.putIfAbsent(attempt, at);
  }

  // ---- What the store does ----

  void asked(Request.Acquire request) {
    // Who asks whether a hold was forgotten does not ask for its times again.
    terms.put(request.attempt(), request.terms());
    if (request.queue()) {
      metAt.putIfAbsent(request.attempt(), world.now());
    }
  }

  void minted(LockName name, AttemptId attempt, long first, int size, long micros) {
    Lock lock = lock(name.value());
    Block block = new Block(attempt, first, size);
    Block present = lock.blocks.putIfAbsent(first, block);
    if (present != null) {
      if (!present.equals(block)) {
        violation("token order", name.value(), block + " and " + present + " are the same.");
      }
      return;
    }
    if (first <= lock.greatest) {
      violation("token order", name.value(), block + " comes after token " + lock.greatest + ".");
    }
    lock.greatest = Math.max(lock.greatest, block.last());
    handedAt.putIfAbsent(attempt, world.now());
    metAt.putIfAbsent(attempt, world.now());
    if (micros < lock.shutUntilMicros && !attempt.equals(lock.shutBy)) {
      violation("at least", name.value(), attempt + " was let in too soon.");
    }
    Terms given = terms.get(attempt);
    if (given != null && given.atLeast() != null && !attempt.equals(lock.shutBy)) {
      lock.shutBy = attempt;
      lock.shutUntilMicros = micros + given.atLeast().toNanos() / 1000;
    }
  }

  /** A release or cancel that is repeated at once gets the same answer. */
  void ended(LockName name, Reply.@Nullable Ended ended) {
    Lock lock = lock(name.value());
    boolean forgotten = world.now() - lock.lastEndAt > retention - retention / 500;
    Reply.Ended last = forgotten ? null : lock.lastEnd;
    if (last != null
        && ended != null
        && last.attempt().equals(ended.attempt())
        && (last.was() != ended.was() || last.how() != ended.how())) {
      violation("repeated release", name.value(), ended + " was answered, but first " + last);
    }
    lock.lastEndAt = world.now();
    lock.lastEnd = ended == null || ended.was() == Reply.Was.ABSENT ? null : ended;
  }

  void forgetEnds() {
    locks.values().forEach(lock -> lock.lastEnd = null);
  }

  /** The at-least time of a hold was counted anew. */
  void shut(LockName name, AttemptId attempt, long untilMicros) {
    Lock lock = lock(name.value());
    lock.shutBy = attempt;
    lock.shutUntilMicros = untilMicros;
  }

  void evicted(String lock, boolean breaks) {
    lock(lock).shutUntilMicros = 0;
    evicted.add(lock);
    if (breaks) {
      broken.add(lock);
    }
  }

  /** A server took over that does not know of this lock. */
  void forgotten(LockName name, int memory) {
    Lock lock = lock(name.value());
    lock.shutUntilMicros = 0;
    lock.lastEnd = null;
    lock.forgottenTo = lock.greatest;
    lock.forgottenBy = memory;
  }

  /** Who has heard of a server that took over believes in nothing that it does not know. */
  void believes(String id, int memory) {
    Try attempt = tries.get(id);
    Lock lock = lock(attempt.lock);
    if (attempt.token <= lock.forgottenTo && lock.forgottenBy <= memory) {
      violation("forgotten hold", attempt.lock, id + " believes in what the store forgot.");
    }
  }

  void stateLost() {
    for (Lock lock : locks.values()) {
      lock.shutUntilMicros = 0;
      lock.lastEnd = null;
    }
  }

  // ---- In the end ----

  /** Judges the whole history. */
  List<Violation> verdict(ToLongFunction<String> waitBound, long boundFrom) {
    if (found.isEmpty()) {
      List<Violation> history = new ArrayList<>();
      if (scenario.keepsBelief()) {
        history.addAll(HistoryChecks.exclusion(events));
        history.addAll(HistoryChecks.tokenOrder(events));
        history.addAll(fifo());
        history.removeIf(violation -> broken.contains(violation.lock()));
      }
      history.addAll(new Waits(tries.values(), waitBound, boundFrom).check());
      found.addAll(history);
    }
    return found;
  }

  /**
   * Who was confirmed as queued is granted before whoever asks later. A grant was waited for in the
   * queue if its token is the first of a block; local hand-over has its own bound. The place in the
   * queue may be that of another of its process who gave up; and whoever was granted the lock for a
   * time and did not hear of it had its turn. A process without a connection may be passed.
   */
  private List<Violation> fifo() {
    List<Event> queue = new ArrayList<>(events);
    for (Try attempt : tries.values()) {
      Block block = attempt.token == 0 ? null : block(attempt);
      Long queued = block == null ? null : queuedAt.get(block.attempt());
      if (queued != null && block.first() == attempt.token) {
        long since = Math.max(queued, attempt.askedAt);
        if (since < attempt.grantedAt) {
          queue.add(new Event.Queued(since, attempt.id));
        }
      }
    }
    return HistoryChecks.fifo(queue).stream()
        .filter(violation -> !evicted.contains(violation.lock()))
        .filter(
            violation -> {
              Try passed = tries.get(violation.attempts().get(0));
              Try passer = tries.get(violation.attempts().get(1));
              Block block = block(passer);
              Block before = block(passed);
              return block != null
                  && before != null
                  && !passed.life.wasDisconnected
                  && block.first() == passer.token
                  && metAt.getOrDefault(block.attempt(), Long.MAX_VALUE)
                      > metAt.get(before.attempt())
                  && handedAt.get(block.attempt()) < handedAt.get(before.attempt());
            })
        .toList();
  }

  private @Nullable Block block(Try attempt) {
    Map.Entry<Long, Block> entry = lock(attempt.lock).blocks.floorEntry(attempt.token);
    return entry == null ? null : entry.getValue();
  }
}
