package io.mortise.internal.client;

import io.mortise.DistributedLock;
import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.admin.LockParticipant;
import io.mortise.function.CheckedConsumer;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Acquires its lock without a thread, runs the task under it, releases, and starts over.
 *
 * <p><b>States.</b> {@code CANDIDATE} has either an attempt or a timer that will begin an attempt.
 * {@code LEADING} has a term whose task runs. {@code STOPPING} has a term that was lost or is being
 * given up: its task still runs, or a timer waits for the end of the minimum term. Each term is
 * released once, by {@link #release}, and only after its task has ended. {@code CLOSED} has
 * nothing.
 *
 * <p><b>Order.</b> The listener for the loss is registered before the task begins, so that no loss
 * is missed. An interrupt is sent only while the task runs, under the guard that the task's end
 * also takes.
 *
 * <p><b>Failures.</b> Only {@link #stop} ends a candidacy. An exception of the task or the store is
 * kept, logged once per episode, and followed by a pause.
 */
final class LeaderCandidate implements Leadership {

  /** Without a queue others find a free lock by polling: twice the longest polling interval. */
  private static final long COURTESY_NANOS = 1_000_000_000;

  private final EngineClient client;
  private final EngineEnv env;
  private final DistributedLock lock;
  private final LeaderOptions options;
  private final CheckedConsumer<? super Term, ? extends Exception> task;
  private final LeadershipListeners listeners;
  private final LeaderLog log;
  private final CandidacyPause candidacyPause;

  /** Completes when the candidacy has ended and its release was answered. */
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  private final ReentrantLock guard = new ReentrantLock();

  // Guarded by the guard.
  private volatile CandidateState state = CandidateState.CANDIDATE;
  private volatile @Nullable LeaderTerm term;
  private volatile @Nullable Throwable lastFailure;
  private volatile boolean closing;
  private volatile CompletableFuture<Void> lastRelease = CompletableFuture.completedFuture(null);
  private @Nullable CompletableFuture<Lease> attempt;
  private EngineScheduler.@Nullable ScheduledTimer timer;
  private boolean refused;

  LeaderCandidate(
      EngineClient client,
      DistributedLock lock,
      LeaderOptions options,
      CheckedConsumer<? super Term, ? extends Exception> task) {
    this.client = client;
    this.env = client.env();
    this.lock = lock;
    this.options = options;
    this.task = task;
    this.listeners = new LeadershipListeners(lock.name(), env.callbacks());
    this.candidacyPause = new CandidacyPause(env);
    this.log = new LeaderLog(lock.name(), env.client().toString(), client.display());
  }

  @Override
  public String name() {
    return lock.name();
  }

  @Override
  public CandidateState state() {
    return state;
  }

  @Override
  public boolean isLeader() {
    LeaderTerm present = term;
    return state == CandidateState.LEADING && present != null && present.isLeading();
  }

  @Override
  public Optional<LockParticipant> current() {
    return client.admin().find(name()).flatMap(info -> info.holders().stream().findFirst());
  }

  @Override
  public Optional<Throwable> lastFailure() {
    return Optional.ofNullable(lastFailure);
  }

  // ---- Standing ----

  /** Begins an attempt. */
  void stand() {
    if (!standOrEnd()) {
      return;
    }
    CompletableFuture<Lease> next = lock.acquireAsync();
    guard.lock();
    try {
      timer = null;
      attempt = next;
    } finally {
      guard.unlock();
    }
    var watched = next.whenComplete(this::answered);
    assert watched != null;
    if (closing) { // stop() may have come before there was an attempt to cancel
      next.cancel(false);
    }
  }

  private boolean standOrEnd() {
    if (!closing) {
      return true;
    }
    end();
    return false;
  }

  private void answered(@Nullable Lease lease, @Nullable Throwable failure) {
    if (lease != null) {
      granted(lease);
    } else if (closing || client.isClosed()) {
      end();
    } else {
      refused(failure == null ? new IllegalStateException("No lease and no failure.") : failure);
    }
  }

  private void refused(Throwable failure) {
    Throwable cause = CompletionStages.cause(failure);
    boolean first;
    boolean last;
    guard.lock();
    try {
      last = closing;
      first = !refused && !last;
      refused = true;
      lastFailure = cause;
      attempt = null;
      candidacyPause.refused();
      if (!last) {
        standLater(pause());
      }
    } finally {
      guard.unlock();
    }
    if (first) {
      log.cannotStand(cause);
    }
    if (last) {
      end();
    }
  }

  /** The pause after the given number of failures in a row. */
  private long pause() {
    guard.lock();
    try {
      return candidacyPause.nanos();
    } finally {
      guard.unlock();
    }
  }

  /** Called under the guard. */
  private void standLater(long pauseNanos) {
    timer = env.timers().schedule(pauseNanos, () -> env.callbacks().execute(this::stand));
  }

  // ---- Leading ----

  private void granted(Lease lease) {
    LeaderTerm next = new LeaderTerm(lease, env.now(), guard);
    boolean wanted;
    guard.lock();
    try {
      wanted = !closing;
      attempt = null;
      refused = false;
      if (wanted) {
        term = next;
        changed(CandidateState.LEADING, next.number);
      }
    } finally {
      guard.unlock();
    }
    if (!wanted) {
      lastRelease = lease.releaseAsync();
      end();
      return;
    }
    log.leads(next);
    lease.onLost(loss -> lost(next));
    Thread thread = DaemonThreads.create("mortise-leader-" + name(), () -> run(next));
    thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
    try {
      thread.start();
    } catch (Error e) { // no thread is available: the lock must not stay held
      taskEnded(next, e);
    }
  }

  private void run(LeaderTerm led) {
    Throwable failure = null;
    try {
      if (led.enter()) {
        led.ensureValid();
        task.accept(led);
      }
    } catch (Throwable e) { // any throwable: the lock must be released
      failure = e;
    }
    led.leave();
    taskEnded(led, failure);
  }

  private void lost(LeaderTerm led) {
    boolean rests;
    guard.lock();
    try {
      if (led.released) {
        return;
      }
      rests = led.taskEnded;
      stopping(led);
    } finally {
      guard.unlock();
    }
    if (rests) {
      release(led);
    }
  }

  /** Called under the guard: ends the term, and notifies its task. */
  private void stopping(LeaderTerm led) {
    if (state == CandidateState.LEADING) {
      changed(CandidateState.STOPPING, led.number);
    }
    led.interrupt();
  }

  private void taskEnded(LeaderTerm led, @Nullable Throwable failure) {
    long restNanos;
    boolean failed;
    guard.lock();
    try {
      led.taskEnded = true;
      boolean asked = led.isLost() || led.stopAsked || !led.isValid();
      long lasted = env.now() - led.began;
      candidacyPause.termEnded(asked, lasted);
      failed = failure != null && (!asked || !isEndOfWork(failure));
      if (failed) {
        lastFailure = failure;
      }
      stopping(led);
      restNanos = led.isLost() || closing ? 0 : options.minimumTerm().toNanos() - lasted;
      if (restNanos > 0) {
        cancelTimer();
        timer = env.timers().schedule(restNanos, () -> release(led));
      }
    } finally {
      guard.unlock();
    }
    if (failure != null && failed) {
      log.taskFailed(led, failure);
    }
    if (restNanos <= 0) {
      release(led);
    }
  }

  /** Whether a task ended this way because it was interrupted, or saw the end of its term. */
  private static boolean isEndOfWork(Throwable failure) {
    return failure instanceof InterruptedException
        || failure instanceof LeaseLostException
        || failure instanceof LeaseInDoubtException;
  }

  /** Called once per term, after its task has ended. */
  private void release(LeaderTerm led) {
    boolean last;
    boolean steppedDown;
    guard.lock();
    try {
      if (led.releasing) {
        return;
      }
      led.releasing = true;
      cancelTimer();
      steppedDown = led.stopAsked && !led.isLost();
      last = closing;
    } finally {
      guard.unlock();
    }
    lastRelease = led.lease.releaseAsync();
    log.leadsNoLonger(led);
    long courtesy = steppedDown && !client.hasQueue() ? COURTESY_NANOS : 0;
    long pause = led.isLost() || steppedDown ? courtesy : pause();
    guard.lock();
    try {
      led.released = true;
      term = null;
      last |= closing;
      if (!last) {
        if (pause > 0) {
          standLater(pause);
        }
        changed(CandidateState.CANDIDATE, led.number);
      }
    } finally {
      guard.unlock();
    }
    if (last) {
      end();
    } else if (pause == 0) {
      stand();
    }
  }

  @Override
  public void stepDown() {
    LeaderTerm led = term;
    if (led != null) {
      stepDown(led);
    }
  }

  private void stepDown(LeaderTerm led) {
    guard.lock();
    try {
      if (led != term || state != CandidateState.LEADING) {
        return;
      }
      long rest = options.minimumTerm().toNanos() - (env.now() - led.began);
      if (rest <= 0) {
        giveUp(led);
      } else if (timer == null) {
        timer = env.timers().schedule(rest, () -> minimumTermOver(led));
      }
    } finally {
      guard.unlock();
    }
  }

  private void minimumTermOver(LeaderTerm led) {
    guard.lock();
    try {
      if (led == term && state == CandidateState.LEADING) {
        giveUp(led);
      }
    } finally {
      guard.unlock();
    }
  }

  private void giveUp(LeaderTerm led) {
    cancelTimer();
    led.stopAsked = true;
    stopping(led);
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  // ---- Ending ----

  /** Requests the end of the candidacy, and does not wait for it. */
  void stop() {
    CompletableFuture<Lease> pending;
    LeaderTerm resting = null;
    boolean idle;
    guard.lock();
    try {
      if (closing) {
        return;
      }
      closing = true;
      LeaderTerm led = term;
      pending = attempt;
      idle = led == null && pending == null && timer != null;
      cancelTimer();
      if (led != null) {
        giveUp(led);
        resting = led.taskEnded ? led : null;
      }
    } finally {
      guard.unlock();
    }
    if (resting != null) {
      release(resting);
    } else if (idle) {
      end();
    } else if (pending != null) {
      pending.cancel(false);
    }
  }

  private void end() {
    guard.lock();
    try {
      if (state != CandidateState.CLOSED) {
        changed(CandidateState.CLOSED, 0);
      }
    } finally {
      guard.unlock();
    }
    var told =
        lastRelease.whenComplete(
            (ignored, loss) -> {
              if (loss != null) {
                lastFailure = loss;
              }
              client.forget(this);
              ended.complete(null);
            });
    assert told != null;
  }

  @Override
  public void close() {
    stop();
    if (isHeldBy(Thread.currentThread())) {
      return;
    }
    Duration patience = options.closeTimeout() == null ? env.ttl() : options.closeTimeout();
    try {
      ended.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      log.notEnded(patience, state);
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot be: it is completed with nothing", e);
    }
  }

  /** Whether another thread than the calling one has still to release a term. */
  boolean isHeldForAnotherThread() {
    return term != null && !isHeldBy(Thread.currentThread());
  }

  private boolean isHeldBy(Thread thread) {
    LeaderTerm present = term;
    return present != null && present.runner == thread;
  }

  // ---- Reporting ----

  @Override
  public void onChange(Consumer<? super Change> listener) {
    Objects.requireNonNull(listener, "listener");
    guard.lock();
    try {
      LeaderTerm present = term;
      listeners.add(listener, new Change(state, present == null ? 0 : present.number));
    } finally {
      guard.unlock();
    }
  }

  /** Called under the guard. */
  private void changed(CandidateState next, long number) {
    state = next;
    listeners.changed(new Change(next, number));
  }

  @Override
  public String toString() {
    return "Leadership[" + name() + ", " + state + ", " + client.display() + "]";
  }
}
