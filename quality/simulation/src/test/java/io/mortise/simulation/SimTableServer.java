package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.memory.MemLockTable;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A lock table with injected faults. */
final class SimTableServer extends SimServer {
  private final int steps;
  private final TableRules rules;
  private final Set<Scenario.TransportFlaw> wire;
  private final Map<SessionId, SimTableStore> homes = new HashMap<>();
  private final Map<SessionId, Long> expiry = new HashMap<>();
  private final Map<SessionId, Long> beats = new HashMap<>();
  private final Set<AttemptId> held = new HashSet<>();
  private final Set<SessionId> cloned = new HashSet<>();
  private final Set<SessionId> disconnected = new HashSet<>();
  private MemLockTable table;

  /** Counts failovers. */
  private int incarnation;

  SimTableServer(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      Scenario scenario,
      InvariantChecker invariantChecker) {
    super(virtualTimeScheduler, settings, invariantChecker);
    Scenario.RuleSet rules = scenario.rules();
    this.steps = scenario.seed() % 3 == 0 ? SimTableRules.FEW : 64;
    this.rules = rules.table().apply(steps);
    this.wire = rules.wire();
    boolean steady =
        !scenario.has(SimFault.CLOCK_FORWARD)
            && !scenario.has(SimFault.CLOCK_BACK)
            && !scenario.has(SimFault.STATE_LOSS)
            && !scenario.has(SimFault.FORGET);
    if (steady && scenario.seed() % 5 == 0 && this.rules instanceof SimTableRules sim) {
      // Longer than tokens run ahead of the clock, and than requests are in flight.
      sim.retention =
          Duration.ofNanos(settings.ttl + settings.maxInFlight + 2 * VirtualTimeScheduler.SECOND);
      invariantChecker.retention = sim.retention.toNanos();
    }
    this.table = new MemLockTable(this.rules);
  }

  @Override
  SimStore open(SimProcess simProcess, SimTransport wire) {
    return new SimTableStore(virtualTimeScheduler, this, simProcess, wire);
  }

  // ---- Faults ----

  @Override
  void connected(SessionId session, boolean there) {
    virtualTimeScheduler.trace(
        () -> "  store: " + session + (there ? " connects again" : " disconnects"));
    table.connected(session, there);
    if (there) {
      disconnected.remove(session);
    } else if (livesUntil(session) > virtualTimeScheduler.now()) {
      disconnected.add(session);
    }
  }

  @Override
  void forgetAll() {
    disconnected.clear();
    table = new MemLockTable(rules);
    expiry.clear();
    invariantChecker.stateLost();
  }

  @Override
  void forgetSome(SplittableRandom random) {
    incarnation++;
    for (LockInfo view :
        table.inspect(LockQuery.all().withIdle().page(null, 1000), micros()).items()) {
      if (random.nextBoolean()) {
        virtualTimeScheduler.trace(() -> "  store: forgets " + view.name());
        table.forget(LockName.of(view.name()));
        invariantChecker.forgotten(LockName.of(view.name()), incarnation);
      }
    }
  }

  // ---- Requests of clients ----

  void register(SessionId session, SimTableStore home) {
    homes.put(session, home);
  }

  Reply apply(Request request) {
    if (request instanceof Request.Acquire acquire) {
      invariantChecker.asked(acquire);
    }
    Reply done = table.apply(request, micros());
    int handed = pushHints(request.attempt());
    if (steps == SimTableRules.FEW && handed > SimTableRules.FEW) {
      invariantChecker.violation(
          "bounded steps", request.name().value(), "One step granted to " + handed);
    }
    checkHolders(request.name());
    invariantChecker.ended(request.name(), done instanceof Reply.Ended ended ? ended : null);
    Reply reply = wire.contains(Scenario.TransportFlaw.HIDES_MORE) ? withoutMore(done) : done;
    if (reply instanceof Reply.Granted granted) {
      minted(request.name(), granted.attempt(), granted.token(), granted.tokens());
      if (request instanceof Request.Adjust adjust && adjust.terms().atLeast() != null) {
        invariantChecker.shut(
            request.name(),
            granted.attempt(),
            micros() + adjust.terms().atLeast().toNanos() / 1000);
      }
    }
    virtualTimeScheduler.trace(() -> "  store: " + text(request) + " -> " + text(reply));
    return reply;
  }

  private static Reply withoutMore(Reply reply) {
    return reply instanceof Reply.Ended ended
        ? new Reply.Ended(ended.attempt(), ended.was(), ended.how(), false)
        : reply;
  }

  Renewal renew(SessionSpec spec, long previous, long next, List<Long> seen, Duration ttl) {
    if (table.judge(spec.id(), micros()) instanceof SessionVerdict.SessionEnded) {
      // A new session has not reported its connection yet. Look it up in the table rather than
      // compare its expiry: the table may have ended it before the clock was set back.
      disconnected.remove(spec.id());
    }
    Renewal renewal = table.renew(spec, previous, next, seen, ttl, micros());
    if (renewal instanceof Renewal.Renewed) {
      if (previous != 0
          && cloned.contains(spec.id())
          && livesUntil(spec.id()) > virtualTimeScheduler.now()) {
        invariantChecker.violation("clone", "-", "Two renew session " + spec.id() + ".");
      }
      cloned.remove(spec.id());
      beats.put(spec.id(), next);
      expiry.put(spec.id(), micros() + ttl.toNanos() / 1000);
    }
    virtualTimeScheduler.trace(() -> "  store: renew " + spec.id() + " -> " + renewal);
    return renewal instanceof Renewal.Renewed told
        ? new Renewal.Renewed(
            told.storeMicros(), told.notifications(), told.more(), "m" + incarnation)
        : renewal;
  }

  @Override
  long renewByClone(SessionSpec spec, long previous, long next) {
    Renewal renewal = table.renew(spec, previous, next, List.of(), spec.ttl(), micros());
    virtualTimeScheduler.trace(() -> "  store: a clone renews " + spec.id() + " -> " + renewal);
    if (renewal instanceof Renewal.Renewed) {
      expiry.put(spec.id(), micros() + spec.ttl().toNanos() / 1000);
      cloned.add(spec.id());
      return next;
    }
    return 0;
  }

  @Override
  long beat(SessionId session) {
    return beats.getOrDefault(session, 0L);
  }

  void close(SessionId session) {
    table.close(session);
    expiry.remove(session);
    cloned.remove(session);
    virtualTimeScheduler.trace(() -> "  store: close " + session);
  }

  SessionVerdict judge(SessionId session) {
    SessionVerdict sessionVerdict = table.judge(session, micros());
    virtualTimeScheduler.trace(() -> "  store: judge " + session + " -> " + sessionVerdict);
    return sessionVerdict;
  }

  Page<LockInfo> inspect(LockQuery query) {
    return table.inspect(query, micros());
  }

  @Override
  Reply.Ended evict(LockName name, AttemptId attempt, Eviction how) {
    Reply.Ended ended = table.evict(name, attempt, how, micros());
    invariantChecker.ended(name, null);
    checkHolders(name);
    pushHints(null);
    virtualTimeScheduler.trace(
        () -> "  store: evict " + attempt + " on " + name + ", " + how + " -> " + ended);
    return ended;
  }

  @Override
  boolean reopen(LockName name) {
    boolean opened = table.reopen(name, micros());
    checkHolders(name);
    pushHints(null);
    virtualTimeScheduler.trace(() -> "  store: reopen " + name + " -> " + opened);
    return opened;
  }

  @Override
  int sweep() {
    int removed = table.sweep(1000, micros());
    invariantChecker.forgetEnds();
    locks().forEach(view -> checkHolders(LockName.of(view.name())));
    pushHints(null);
    virtualTimeScheduler.trace(() -> "  store: swept: " + removed);
    return removed;
  }

  @Override
  List<LockInfo> locks() {
    return table.inspect(LockQuery.all().page(null, 1000), micros()).items();
  }

  @Override
  long livesUntil(SessionId session) {
    Long until = expiry.get(session);
    return until == null ? Long.MIN_VALUE : trueTime(until);
  }

  /** Checks that holders since this step are alive. */
  private void checkHolders(LockName name) {
    for (LockInfo view : table.inspect(LockQuery.of(name.value()), micros()).items()) {
      for (LockParticipant holder : view.holders()) {
        if (held.add(AttemptId.parse(holder.attempt())) && holder.isGone()) {
          invariantChecker.violation(
              "grant to the dead", name.value(), holder.attempt() + " outlived its session.");
        }
      }
    }
  }

  private void minted(LockName name, AttemptId attempt, long first, int size) {
    invariantChecker.minted(name, attempt, first, size, micros());
  }

  /**
   * Pushes hints of hand-offs; returns their number.
   *
   * @param asking the attempt whose request was executed; null for an operator's
   */
  private int pushHints(@Nullable AttemptId asking) {
    int[] granted = {0};
    table.drainNotifications(
        (session, notifications) -> {
          if (notifications instanceof SessionNotification.HoldGranted hold) {
            granted[0]++;
            minted(hold.name(), hold.attempt(), hold.token(), hold.tokens());
            if (disconnected.contains(session) && !hold.attempt().equals(asking)) {
              invariantChecker.violation(
                  "grant to the disconnected",
                  hold.name().value(),
                  hold.attempt() + " could not hear of it.");
            }
          }
          SimTableStore home = homes.get(session);
          if (home != null) {
            home.push(session, notifications);
          }
        });
    return granted[0];
  }
}
