package io.mortise.testkit.sim;

import io.mortise.internal.table.LockTable;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore.Eviction;
import io.mortise.spi.LockView;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.Verdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** The store's side: a lock table and a clock, either of which may be tampered with. */
final class Server {
  private static final long MILLION = 1_000_000;

  /** A day in 2026, in microseconds. */
  private static final long START = 1_780_000_000_000_000L;

  final Settings settings;
  private final World world;
  private final Scenario.Rules rules;
  private final Judge judge;
  private final long ppm;
  private final Map<SessionId, SimStore> homes = new HashMap<>();
  private final Map<SessionId, Long> expiry = new HashMap<>();
  private LockTable table;
  private long stepMicros;
  private long setBack;
  private long pausedUntil;
  private boolean down;

  Server(World world, Settings settings, Scenario.Rules rules, Judge judge) {
    this.world = world;
    this.settings = settings;
    this.rules = rules;
    this.judge = judge;
    this.table = new LockTable(rules.table());
    SplittableRandom random = world.random();
    this.ppm =
        random.nextBoolean()
            ? Host.DRIFT_PPM
            : random.nextLong(-Host.DRIFT_PPM, Host.DRIFT_PPM + 1);
  }

  private long micros() {
    long now = world.now();
    return START + stepMicros + (now + now * ppm / MILLION) / 1000;
  }

  /** The true time at which the store's clock shows that, if it is not set meanwhile. */
  private long trueTime(long micros) {
    long shown = (micros - START - stepMicros) * 1000;
    return shown - shown * ppm / (MILLION + ppm) + 1;
  }

  // ---- What goes wrong ----

  boolean isDown() {
    return down;
  }

  void down(boolean value) {
    down = value;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  void pauseUntil(long time) {
    pausedUntil = time;
  }

  void stepClock(long micros) {
    stepMicros += micros;
    setBack += Math.max(0, -micros) * 1000;
  }

  /** By how much its clock was set back in all, in nanoseconds: sessions live longer by that. */
  long setBack() {
    return setBack;
  }

  void forgetAll() {
    table = new LockTable(rules.table());
    expiry.clear();
    judge.stateLost();
  }

  // ---- What clients ask ----

  void register(SessionId session, SimStore home) {
    homes.put(session, home);
  }

  Reply apply(Request request) {
    if (request instanceof Request.Acquire acquire) {
      judge.terms(acquire.attempt(), acquire.terms());
    }
    Reply reply = table.apply(request, micros());
    pushHints();
    if (reply instanceof Reply.Granted granted) {
      judge.minted(request.name(), granted.attempt(), granted.token(), granted.tokens(), micros());
      if (request instanceof Request.Adjust adjust && adjust.terms().atLeast() != null) {
        judge.shut(
            request.name(),
            granted.attempt(),
            micros() + adjust.terms().atLeast().toNanos() / 1000);
      }
    }
    world.trace(() -> "  store: " + text(request) + " -> " + text(reply));
    return reply;
  }

  Renewal renew(SessionSpec spec, long previous, long next, List<Long> seen) {
    Renewal renewal = table.renew(spec, previous, next, seen, micros());
    if (renewal instanceof Renewal.Renewed) {
      expiry.put(spec.id(), micros() + settings.ttl / 1000);
    }
    world.trace(() -> "  store: renew " + spec.id() + " -> " + renewal);
    return renewal;
  }

  void close(SessionId session) {
    table.close(session);
    world.trace(() -> "  store: close " + session);
  }

  Verdict judge(SessionId session) {
    Verdict verdict = table.judge(session, micros());
    world.trace(() -> "  store: judge " + session + " -> " + verdict);
    return verdict;
  }

  LockPage inspect(LockQuery query) {
    return table.inspect(query, micros());
  }

  Reply.Ended evict(LockName name, AttemptId attempt, Eviction how) {
    Reply.Ended ended = table.evict(name, attempt, how, micros());
    pushHints();
    world.trace(() -> "  store: evict " + attempt + " on " + name + ", " + how + " -> " + ended);
    return ended;
  }

  int sweep() {
    int removed = table.sweep(1000, micros());
    pushHints();
    return removed;
  }

  List<LockView> locks() {
    return table.inspect(new LockQuery(null, null, 1000, false), micros()).locks();
  }

  /** The true time until which the session lives in the store, as things stand. */
  long livesUntil(SessionId session) {
    Long until = expiry.get(session);
    return until == null ? Long.MIN_VALUE : trueTime(until);
  }

  private void pushHints() {
    table.drainHints(
        (session, news) -> {
          if (news instanceof News.Granted granted) {
            judge.minted(
                granted.name(), granted.attempt(), granted.token(), granted.tokens(), micros());
          }
          SimStore home = homes.get(session);
          if (home != null) {
            home.push(session, news);
          }
        });
  }

  static String text(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return "acquire "
          + acquire.name()
          + " for "
          + acquire.attempt()
          + " weight "
          + acquire.mode().weight()
          + (acquire.queue() ? " queue" : "")
          + (acquire.provenDead() == null ? "" : " dead=" + acquire.provenDead());
    } else if (request instanceof Request.Adjust adjust) {
      return "adjust " + adjust.name() + " of " + adjust.attempt() + " tokens " + adjust.tokens();
    }
    return "abandon " + request.name() + " by " + request.attempt();
  }

  static String text(Reply reply) {
    return reply.toString().replace(", attempt=" + reply.attempt(), "");
  }
}
