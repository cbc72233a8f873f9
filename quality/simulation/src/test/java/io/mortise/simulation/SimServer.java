package io.mortise.simulation;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import java.util.List;
import java.util.SplittableRandom;

/** The server that all processes share: its state, its clock, and the faults of both. */
abstract class SimServer {
  private static final long MILLION = 1_000_000;

  /** A day in 2026, in microseconds. */
  private static final long START = 1_780_000_000_000_000L;

  final SimSettings settings;
  final VirtualTimeScheduler virtualTimeScheduler;
  final InvariantChecker invariantChecker;
  private final long ppm;
  private long stepMicros;
  private long setBack;
  private long pausedUntil;
  private boolean down;

  SimServer(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      InvariantChecker invariantChecker) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.settings = settings;
    this.invariantChecker = invariantChecker;
    SplittableRandom random = virtualTimeScheduler.random();
    this.ppm =
        random.nextBoolean()
            ? SimHost.DRIFT_PPM
            : random.nextLong(-SimHost.DRIFT_PPM, SimHost.DRIFT_PPM + 1);
  }

  static SimServer of(
      VirtualTimeScheduler virtualTimeScheduler,
      SimSettings settings,
      Scenario scenario,
      InvariantChecker invariantChecker) {
    return scenario.store() == Scenario.StoreKind.TABLE
        ? new SimTableServer(virtualTimeScheduler, settings, scenario, invariantChecker)
        : new SimDocumentServer(virtualTimeScheduler, settings, scenario, invariantChecker);
  }

  /** Opens a process's connection to it. */
  abstract SimStore open(SimProcess simProcess, SimTransport wire);

  final long micros() {
    long now = virtualTimeScheduler.now();
    return START + stepMicros + (now + now * ppm / MILLION) / 1000;
  }

  /** The true time at which the store's clock shows that, if it is not set meanwhile. */
  final long trueTime(long micros) {
    long shown = (micros - START - stepMicros) * 1000;
    return shown - shown * ppm / (MILLION + ppm) + 1;
  }

  // ---- Faults ----

  final boolean isDown() {
    return down;
  }

  final void down(boolean value) {
    down = value;
  }

  final long pausedUntil() {
    return pausedUntil;
  }

  final void pauseUntil(long time) {
    pausedUntil = time;
  }

  final void stepClock(long micros) {
    stepMicros += micros;
    setBack += Math.max(0, -micros) * 1000;
  }

  /** By how much its clock was set back in total, in nanoseconds: sessions live longer by that. */
  final long setBack() {
    return setBack;
  }

  /** Records whether a process has a connection for pushes. */
  abstract void connected(SessionId session, boolean there);

  /** Restarts with all state lost. */
  abstract void forgetAll();

  /** Fails over to a server that lacks some locks. */
  abstract void forgetSome(SplittableRandom random);

  /** The stored beat of a session; 0 if none. */
  abstract long beat(SessionId session);

  /**
   * A copy of the session's process renews.
   *
   * @param previous the beat confirmed when the copy was made, or to the copy since
   * @return the beat confirmed now; 0 if the session is lost
   */
  abstract long renewByClone(SessionSpec spec, long previous, long next);

  // ---- For operators and the checker ----

  abstract Reply.Ended evict(LockName name, AttemptId attempt, Eviction how);

  abstract boolean reopen(LockName name);

  /** Removes expired entries; returns their number. */
  abstract int sweep();

  /** The locks that are in use. */
  abstract List<LockInfo> locks();

  /** The true time until which the session lives in the store, without further renewals. */
  abstract long livesUntil(SessionId session);

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
