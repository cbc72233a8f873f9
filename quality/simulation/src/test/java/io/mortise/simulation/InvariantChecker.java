package io.mortise.simulation;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.testkit.history.AttemptEvent;
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
 * Observes the whole run in true time and reports broken properties. Beliefs of processes become a
 * history for the {@link HistoryChecks}; steps of the store are judged as they happen.
 */
final class InvariantChecker {
  private final VirtualTimeScheduler virtualTimeScheduler;
  private final Scenario scenario;
  private final List<AttemptEvent> events = new ArrayList<>();
  private final List<Violation> found = new ArrayList<>();
  private final Map<String, ObservedAttempt> tries = new LinkedHashMap<>();
  private final Map<String, ObservedLock> locks = new HashMap<>();
  private final Map<AttemptId, Long> queuedAt = new HashMap<>();
  private final Map<AttemptId, Long> handedAt = new HashMap<>();
  private final Map<AttemptId, Long> metAt = new HashMap<>();
  private final LocalPassCheck localPassCheck = new LocalPassCheck();

  /** When the latest lease of an attempt was closed, on the clock of its process. */
  private final Map<AttemptId, Long> closedAt = new HashMap<>();

  private final Map<AttemptId, HoldTerms> terms = new HashMap<>();
  private final Set<String> broken = new HashSet<>();
  private final Set<String> evicted = new HashSet<>();
  int grants;
  int losses;

  /** How long the store remembers an end. */
  long retention = Long.MAX_VALUE;

  /** One acquire of an actor. */
  static final class ObservedAttempt {
    final SimProcess simProcess;
    final String id;
    final String lock;
    final SimLock.LockUsage lockUsage;
    final boolean once;
    final long askedAt;
    long grantedAt = Long.MAX_VALUE;
    long waitedUntil = Long.MAX_VALUE;
    long believesUntil;

    /** The latest end of the at-least time, if it was set after the grant. */
    long keptShutUntil;

    long token;
    boolean narrowed;
    boolean over;
    long overAt;

    ObservedAttempt(
        SimProcess simProcess,
        String id,
        String lock,
        SimLock.LockUsage lockUsage,
        boolean once,
        long askedAt) {
      this.simProcess = simProcess;
      this.id = id;
      this.lock = lock;
      this.lockUsage = lockUsage;
      this.once = once;
      this.askedAt = askedAt;
    }

    /** The time at which the lock is free again, without faults. */
    long freeAt() {
      long free = over ? Math.min(overAt, believesUntil) : believesUntil;
      java.time.Duration atLeast = lockUsage.options().terms().atLeast();
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
  record TokenRange(AttemptId attempt, long first, int size) {
    long last() {
      return first + size - 1;
    }
  }

  private static final class ObservedLock {
    final TreeMap<Long, TokenRange> tokenRanges = new TreeMap<>();
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

  InvariantChecker(VirtualTimeScheduler virtualTimeScheduler, Scenario scenario) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.scenario = scenario;
  }

  private ObservedLock lock(String name) {
    return locks.computeIfAbsent(name, unused -> new ObservedLock());
  }

  void violation(String rule, String lock, String message) {
    virtualTimeScheduler.trace(() -> "VIOLATION of " + rule + " on " + lock + ": " + message);
    found.add(new Violation(rule, lock, message, List.of()));
  }

  // ---- Events of processes ----

  void asked(
      SimProcess simProcess, String id, SimLock lock, SimLock.LockUsage lockUsage, boolean once) {
    virtualTimeScheduler.trace(
        () -> id + " asks for " + lock.name + " " + lockUsage.mode() + (once ? " once" : ""));
    tries.put(
        id,
        new ObservedAttempt(
            simProcess, id, lock.name, lockUsage, once, virtualTimeScheduler.now()));
    events.add(
        new AttemptEvent.AttemptAsked(
            virtualTimeScheduler.now(), id, simProcess.name, lock.name, lockUsage.mode()));
  }

  void gaveUp(SimProcess simProcess, String id) {
    virtualTimeScheduler.trace(() -> id + " gives up");
    ObservedAttempt attempt = tries.get(id);
    attempt.waitedUntil = Math.min(attempt.waitedUntil, virtualTimeScheduler.now());
    events.add(new AttemptEvent.AttemptGivenUp(virtualTimeScheduler.now(), id));
  }

  void failed(SimProcess simProcess, String id, Throwable failure) {
    ObservedAttempt attempt = tries.get(id);
    if (attempt.waitedUntil == Long.MAX_VALUE) {
      virtualTimeScheduler.trace(() -> id + " ends its wait: " + failure);
      attempt.waitedUntil = virtualTimeScheduler.now();
      events.add(new AttemptEvent.AttemptGivenUp(virtualTimeScheduler.now(), id));
    }
  }

  void granted(SimProcess simProcess, String id, long token, long until) {
    grants++;
    ObservedAttempt attempt = tries.get(id);
    attempt.grantedAt = virtualTimeScheduler.now();
    attempt.waitedUntil = Math.min(attempt.waitedUntil, virtualTimeScheduler.now());
    attempt.token = token;
    attempt.believesUntil = until;
    virtualTimeScheduler.trace(
        () -> id + " holds with token " + token + " until " + until / 1e6 + " ms");
    events.add(new AttemptEvent.AttemptGranted(virtualTimeScheduler.now(), id, token, until));
    if (!scenario.has(SimFault.SUSPEND) || tookIdle(attempt)) {
      // A suspended host notices at its next renewal, and before it takes an idle grant.
      checkBond(simProcess, attempt);
    }
    checkPasses(attempt);
  }

  void extended(SimProcess simProcess, String id, long until) {
    ObservedAttempt attempt = tries.get(id);
    attempt.believesUntil = until;
    events.add(new AttemptEvent.AttemptExtended(virtualTimeScheduler.now(), id, until));
    // Else an answer other than a renewal's may have moved it, before the suspension was noticed.
    if (!scenario.has(SimFault.SUSPEND) || !attempt.lock.startsWith("timed")) {
      checkBond(simProcess, attempt);
    }
  }

  void note(Supplier<String> line) {
    virtualTimeScheduler.trace(line);
  }

  /** The holder relies on a shared hold from now on. */
  void narrowed(String id) {
    virtualTimeScheduler.trace(() -> id + " narrows its hold");
    tries.get(id).narrowed = true;
    events.add(new AttemptEvent.AttemptNarrowed(virtualTimeScheduler.now(), id, Mode.SHARED));
  }

  /** The at-least time restarts when the store executes the request sent now. */
  void keepsShut(String id, long until) {
    ObservedAttempt attempt = tries.get(id);
    attempt.keptShutUntil = Math.max(attempt.keptShutUntil, until);
  }

  void released(SimProcess simProcess, String id) {
    virtualTimeScheduler.trace(() -> id + " releases");
    end(id);
    TokenRange tokenRange = block(tries.get(id));
    if (tokenRange != null) {
      closedAt.put(tokenRange.attempt(), simProcess.host.nanos());
    }
    events.add(new AttemptEvent.AttemptReleased(virtualTimeScheduler.now(), id));
  }

  void releaseAnswered(SimProcess simProcess, String id, Throwable failure) {
    if (failure != null) {
      virtualTimeScheduler.trace(() -> id + " learns at its release: " + failure);
    }
  }

  void lost(SimProcess simProcess, String id) {
    losses++;
    virtualTimeScheduler.trace(() -> id + " is told of its loss");
    end(id);
    events.add(new AttemptEvent.AttemptLost(virtualTimeScheduler.now(), id));
  }

  private void end(String id) {
    tries.get(id).end(virtualTimeScheduler.now());
  }

  void died(SimProcess simProcess) {
    virtualTimeScheduler.trace(() -> simProcess + " dies");
    for (ObservedAttempt attempt : tries.values()) {
      if (attempt.simProcess == simProcess) {
        attempt.end(virtualTimeScheduler.now());
      }
    }
    events.add(new AttemptEvent.ProcessDied(virtualTimeScheduler.now(), simProcess.name));
  }

  /**
   * Whether the lease took an idle grant, unused for longer than the engine trusts a host not to
   * have been suspended.
   */
  private boolean tookIdle(ObservedAttempt attempt) {
    TokenRange tokenRange = block(attempt);
    Long closed = tokenRange == null ? null : closedAt.get(tokenRange.attempt());
    return closed != null
        && attempt.simProcess.host.nanos() - closed > 20 * VirtualTimeScheduler.MILLI
        && virtualTimeScheduler.now() - attempt.askedAt < VirtualTimeScheduler.MILLI;
  }

  /** A holder's belief ends before its session does in the store. */
  private void checkBond(SimProcess simProcess, ObservedAttempt attempt) {
    SessionId session = simProcess.store.latestSession();
    boolean steady =
        !scenario.has(SimFault.CLOCK_FORWARD)
            && !scenario.has(SimFault.STATE_LOSS)
            && !scenario.has(SimFault.CLOCK_BACK);
    if (steady && attempt.believesUntil > virtualTimeScheduler.now() && session != null) {
      long lives = simProcess.livesUntil(session);
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

  /** Local hand-off ends soon after the process learns of a waiter elsewhere. */
  private void checkPasses(ObservedAttempt attempt) {
    Map.Entry<Long, TokenRange> entry = lock(attempt.lock).tokenRanges.floorEntry(attempt.token);
    if (entry == null || entry.getValue().last() < attempt.token) {
      if (!broken.contains(attempt.lock)) {
        violation("mint", attempt.lock, attempt.id + " has a token that was never minted.");
      }
      return;
    }
    TokenRange tokenRange = entry.getValue();
    long now = attempt.simProcess.host.nanos();
    if (attempt.token == tokenRange.first()) {
      localPassCheck.begins(tokenRange.attempt(), now);
      return;
    }
    long excess = localPassCheck.excessOfPass(tokenRange.attempt(), now);
    if (excess > 0) {
      violation(
          "bounded passes",
          attempt.lock,
          attempt.id
              + " got the lock from its own process "
              + excess
              + " ns after it was known that another waits.");
    }
  }

  /** A holder writes to the resource, which compares tokens. */
  void write(SimProcess simProcess, String id) {
    ObservedAttempt attempt = tries.get(id);
    if (!attempt.lockUsage.write() || attempt.narrowed) {
      return;
    }
    ObservedLock lock = lock(attempt.lock);
    boolean accepted =
        attempt.token > lock.high || (attempt.token == lock.high && id.equals(lock.highBy));
    if (accepted) {
      lock.high = attempt.token;
      lock.highBy = id;
    } else if (attempt.token == lock.high) {
      violation("checking resource", attempt.lock, id + " and " + lock.highBy + " share a token.");
    } else if (judgesBelief(attempt.lock)
        && !attempt.over
        && attempt.believesUntil > virtualTimeScheduler.now()) {
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
    queuedAt.putIfAbsent(attempt, virtualTimeScheduler.now());
  }

  /**
   * @param at on the process's clock, by which the bound is measured
   */
  void knowsWanted(AttemptId attempt, long at) {
    localPassCheck.knowsWanted(attempt, at);
  }

  // ---- Events of the store ----

  void asked(Request.Acquire request) {
    // A request that verifies a hold after a failover does not repeat its times.
    terms.put(request.attempt(), request.terms());
    if (request.queue()) {
      met(request.attempt());
    }
  }

  /** An attempt is confirmed as queued. */
  void met(AttemptId attempt) {
    metAt.putIfAbsent(attempt, virtualTimeScheduler.now());
  }

  void minted(LockName name, AttemptId attempt, long first, int size, long micros) {
    ObservedLock lock = lock(name.value());
    TokenRange tokenRange = new TokenRange(attempt, first, size);
    TokenRange present = lock.tokenRanges.putIfAbsent(first, tokenRange);
    if (present != null) {
      if (!present.equals(tokenRange)) {
        violation("token order", name.value(), tokenRange + " and " + present + " are the same.");
      }
      return;
    }
    if (first <= lock.greatest) {
      violation(
          "token order", name.value(), tokenRange + " comes after token " + lock.greatest + ".");
    }
    lock.greatest = Math.max(lock.greatest, tokenRange.last());
    boolean isLetIn = handedAt.putIfAbsent(attempt, virtualTimeScheduler.now()) == null;
    met(attempt);
    // A holder may get more tokens, even after the clock was set back.
    if (isLetIn && micros < lock.shutUntilMicros && !attempt.equals(lock.shutBy)) {
      violation("at least", name.value(), attempt + " was let in too soon.");
    }
    HoldTerms given = terms.get(attempt);
    if (given != null && given.atLeast() != null && !attempt.equals(lock.shutBy)) {
      lock.shutBy = attempt;
      lock.shutUntilMicros = micros + given.atLeast().toNanos() / 1000;
    }
  }

  /** A release or cancel, repeated at once, gets the same answer. */
  void ended(LockName name, Reply.@Nullable Ended ended) {
    ObservedLock lock = lock(name.value());
    boolean forgotten = virtualTimeScheduler.now() - lock.lastEndAt > retention - retention / 500;
    Reply.Ended last = forgotten ? null : lock.lastEnd;
    if (last != null
        && ended != null
        && last.attempt().equals(ended.attempt())
        && (last.was() != ended.was() || last.how() != ended.how())) {
      violation("repeated release", name.value(), ended + " was answered, but first " + last);
    }
    lock.lastEndAt = virtualTimeScheduler.now();
    lock.lastEnd = ended == null || ended.was() == Reply.AttemptState.ABSENT ? null : ended;
  }

  void forgetEnds() {
    locks.values().forEach(lock -> lock.lastEnd = null);
  }

  /** The at-least time of a hold restarted. */
  void shut(LockName name, AttemptId attempt, long untilMicros) {
    ObservedLock lock = lock(name.value());
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

  /** After a failover the server does not know this lock. */
  void forgotten(LockName name, int incarnation) {
    ObservedLock lock = lock(name.value());
    lock.shutUntilMicros = 0;
    lock.lastEnd = null;
    lock.forgottenTo = lock.greatest;
    lock.forgottenBy = incarnation;
  }

  /** A process that has learned of a failover relies on no hold that the new server lacks. */
  void believes(String id, int incarnation) {
    ObservedAttempt attempt = tries.get(id);
    ObservedLock lock = lock(attempt.lock);
    if (attempt.token <= lock.forgottenTo && lock.forgottenBy <= incarnation) {
      violation("forgotten hold", attempt.lock, id + " believes in what the store forgot.");
    }
  }

  void stateLost() {
    for (ObservedLock lock : locks.values()) {
      lock.shutUntilMicros = 0;
      lock.lastEnd = null;
    }
  }

  // ---- At the end ----

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
      history.addAll(new WaitBoundCheck(tries.values(), waitBound, boundFrom).check());
      found.addAll(history);
    }
    return found;
  }

  /**
   * A confirmed waiter is granted the lock before later requests. A grant came through the queue if
   * its token is the first of a block; local hand-off has its own bound. A waiter may have
   * inherited its place from another one of its process that gave up. An attempt that was granted
   * the lock for a time without learning of it has had its turn. A process without a connection may
   * be skipped.
   */
  private List<Violation> fifo() {
    List<AttemptEvent> queue = new ArrayList<>(events);
    for (ObservedAttempt attempt : tries.values()) {
      TokenRange tokenRange = attempt.token == 0 ? null : block(attempt);
      Long queued = tokenRange == null ? null : queuedAt.get(tokenRange.attempt());
      if (queued != null && tokenRange.first() == attempt.token) {
        long since = Math.max(queued, attempt.askedAt);
        if (since < attempt.grantedAt) {
          queue.add(new AttemptEvent.AttemptQueued(since, attempt.id));
        }
      }
    }
    return HistoryChecks.fifo(queue).stream()
        .filter(violation -> !evicted.contains(violation.lock()))
        .filter(
            violation -> {
              ObservedAttempt passed = tries.get(violation.attempts().get(0));
              ObservedAttempt passer = tries.get(violation.attempts().get(1));
              TokenRange tokenRange = block(passer);
              TokenRange before = block(passed);
              return tokenRange != null
                  && before != null
                  && !passed.simProcess.wasDisconnected
                  && tokenRange.first() == passer.token
                  && metAt.getOrDefault(tokenRange.attempt(), Long.MAX_VALUE)
                      > metAt.get(before.attempt())
                  && handedAt.get(tokenRange.attempt()) < handedAt.get(before.attempt());
            })
        .toList();
  }

  private @Nullable TokenRange block(ObservedAttempt attempt) {
    Map.Entry<Long, TokenRange> entry = lock(attempt.lock).tokenRanges.floorEntry(attempt.token);
    return entry == null ? null : entry.getValue();
  }
}
