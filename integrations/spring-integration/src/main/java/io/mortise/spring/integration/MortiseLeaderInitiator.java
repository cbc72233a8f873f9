package io.mortise.spring.integration;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockName;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * Makes a {@link Candidate} of Spring Integration the leader of its role while it holds the lock of
 * that name. Candidates wait in the lock's queue, without polling.
 *
 * <p>{@code onGranted} and {@code onRevoked} of the candidate are called in turns, by one thread of
 * the initiator. If there is a publisher, each is followed by its event, as in Spring Integration's
 * own initiator: {@code OnGrantedEvent} is published when {@code onGranted} has returned. When the
 * lease is lost, that thread is interrupted at once: a candidate that works in {@code onGranted}
 * stops there, and {@code onRevoked} follows, which is never interrupted. A candidate that gives
 * leadership up, by {@code yield()} or {@link #stop()}, is revoked <em>before</em> the lock is
 * released, so that the next leader begins after it. Then it waits in the queue again, after a
 * pause that grows while its terms are short. Any exception or {@code Error} of {@code onGranted}
 * gives leadership up, too, and is logged; one of {@code onRevoked} is only logged. A candidate
 * that catches the interrupt is revoked when it returns from {@code onGranted}.
 *
 * <p>{@code Context.isLeader()} is {@link Lease#isValid()}: false before the store can let another
 * lead. A process that is paused right after this check may still act once; {@link #lease()} has
 * the fencing token against that.
 *
 * <p>It runs on the lock's own operations and not on {@link LockClient#leader}, since it takes any
 * lock, with options of its own, and gives out each term's {@link Lease}.
 *
 * <p>Events about failed attempts are not published: a candidate waits, and an attempt does not
 * fail. Thread-safe. The caller closes the client, after this was stopped.
 */
public final class MortiseLeaderInitiator
    implements SmartLifecycle, ApplicationEventPublisherAware {
  private static final Logger log = LoggerFactory.getLogger(MortiseLeaderInitiator.class);

  /** As Spring Integration's own: started last, and stopped first. */
  private static final int PHASE = Integer.MAX_VALUE - 1000;

  /** Between attempts that the store refused, and after a candidate that failed. */
  private static final long PAUSE_SECONDS = 1;

  /** After a candidate that yielded; doubled with each short term. */
  private static final long SHORTEST_PAUSE_MILLIS = 100;

  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  private static final long STOP_SECONDS = 10;

  private final DistributedLock lock;
  private final Candidate candidate;
  private final ReentrantLock guard = new ReentrantLock();

  /** Null while stopped; guarded by {@link #guard}. */
  private @Nullable Election election;

  private volatile @Nullable LeaderEventPublisher publisher;

  /** Null while another leads. */
  private final AtomicReference<@Nullable LedTerm> term = new AtomicReference<>();

  private MortiseLeaderInitiator(DistributedLock lock, Candidate candidate) {
    this.lock = lock;
    this.candidate = candidate;
  }

  /**
   * Uses the lock with the name of the candidate's role.
   *
   * @throws IllegalArgumentException if the role is no lock name
   */
  public static MortiseLeaderInitiator over(LockClient client, Candidate candidate) {
    return over(client.lock(candidate.getRole()), candidate);
  }

  /** Uses a lock. */
  public static MortiseLeaderInitiator over(DistributedLock lock, Candidate candidate) {
    return new MortiseLeaderInitiator(
        Objects.requireNonNull(lock, "lock"), Objects.requireNonNull(candidate, "candidate"));
  }

  /** Called by the application context: events are published there. */
  @Override
  public void setApplicationEventPublisher(ApplicationEventPublisher applicationEventPublisher) {
    publisher = new DefaultLeaderEventPublisher(applicationEventPublisher);
  }

  /** Begins to wait for leadership. Does not block. Does nothing if it has begun. */
  @Override
  public void start() {
    guard.lock();
    try {
      if (election == null) {
        election = new Election();
        election.thread.start();
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * Gives leadership and the wait for it up. Blocks until the candidate was revoked and the lock is
   * released, for ten seconds at most: a candidate that stays in a callback for longer keeps the
   * lock until it returns. It may be started again.
   */
  @Override
  public void stop() {
    Election ending;
    guard.lock();
    try {
      ending = election;
      election = null;
    } finally {
      guard.unlock();
    }
    if (ending != null) {
      ending.end();
    }
  }

  /** Whether it leads or waits for leadership: false also after the client was closed. */
  @Override
  public boolean isRunning() {
    guard.lock();
    try {
      return election != null;
    } finally {
      guard.unlock();
    }
  }

  /** The client was closed: an election that was not stopped ends. */
  private void givenUp(Election ending) {
    guard.lock();
    try {
      if (election == ending) {
        election = null;
      }
    } finally {
      guard.unlock();
    }
  }

  @Override
  public int getPhase() {
    return PHASE;
  }

  /** The current term's context, or one that does not lead. */
  public Context getContext() {
    LedTerm now = term.get();
    return now == null ? new NoTerm() : now;
  }

  /** The lease of the current term; empty while this process does not lead. */
  public Optional<Lease> lease() {
    LedTerm now = term.get();
    return now == null ? Optional.empty() : Optional.of(now.lease);
  }

  @Override
  public String toString() {
    return "MortiseLeaderInitiator[" + lock.name() + ", " + candidate.getId() + "]";
  }

  /** From a start to the next stop. */
  private final class Election implements Runnable {
    final Thread thread = new Thread(this, "mortise-leader-" + lock.name());
    private final CountDownLatch ended = new CountDownLatch(1);
    private final ReentrantLock interruptGuard = new ReentrantLock();

    /** Whether a stop may interrupt the thread; guarded by {@link #interruptGuard}. */
    private boolean interruptible;

    /** After the next term that its candidate ends. For the election's thread. */
    private long pauseMillis = SHORTEST_PAUSE_MILLIS;

    /** The latest term. */
    private volatile @Nullable LedTerm current;

    Election() {
      thread.setDaemon(true);
    }

    @Override
    public void run() {
      boolean refused = false;
      while (ended.getCount() > 0) {
        try (Lease lease = acquire()) {
          refused = false;
          lead(lease);
        } catch (LeaseLostException e) {
          log.debug("Leadership '{}' was lost: {}", LockName.of(lock.name()), e.getMessage());
        } catch (InterruptedException e) {
          log.debug("Leadership '{}': interrupted.", LockName.of(lock.name()));
        } catch (LockException e) {
          if (!refused) {
            log.warn(
                "Leadership '{}' cannot be had, it is tried again: {}",
                LockName.of(lock.name()),
                e.getMessage());
          }
          refused = true;
          pause(TimeUnit.SECONDS.toMillis(PAUSE_SECONDS));
        } catch (IllegalStateException e) {
          log.warn("Leadership '{}' is given up: {}", LockName.of(lock.name()), e.getMessage());
          givenUp(this);
          return;
        } catch (RuntimeException | Error e) {
          log.error("Leadership '{}' failed, it is tried again.", LockName.of(lock.name()), e);
          pause(TimeUnit.SECONDS.toMillis(PAUSE_SECONDS));
        }
      }
    }

    private void lead(Lease lease) throws InterruptedException {
      LedTerm now = new LedTerm(lease);
      term.set(now);
      current = now;
      // Stored first, then checked: a stop in between sees the term, or is seen here.
      if (ended.getCount() == 0) {
        term.compareAndSet(now, null);
        return;
      }
      boolean failed = false;
      long began = System.nanoTime();
      try {
        // The candidate may catch the interrupt, which then would not end the wait for the term's
        // end.
        lease.onLost(loss -> now.yield());
        lease.run(() -> serve(now));
      } catch (LeaseLostException | LeaseInDoubtException e) {
        log.debug("Leadership '{}' ends: {}", LockName.of(lock.name()), e.getMessage());
      } catch (InterruptedException e) {
        log.debug("Leadership '{}' ends: interrupted.", LockName.of(lock.name()));
      } catch (Throwable e) {
        // Errors and undeclared exceptions as well: they must not end the thread.
        failed = true;
        log.warn(
            "The candidate '{}' failed as leader of '{}'.",
            candidate.getId(),
            LockName.of(lock.name()),
            e);
      } finally {
        // The interrupt has ended the candidate's work; its callback must not see it again.
        boolean unused = Thread.interrupted();
        term.compareAndSet(now, null);
        revoke(now);
      }
      if (failed) {
        lease.close();
        pause(TimeUnit.SECONDS.toMillis(PAUSE_SECONDS));
      } else if (lease.isValid()) {
        lease.close();
        pause(pauseAfter(System.nanoTime() - began));
      }
    }

    /** Otherwise a candidate that always yields would lead as often as the store can grant. */
    private long pauseAfter(long termNanos) {
      if (termNanos >= TimeUnit.MILLISECONDS.toNanos(LONGEST_PAUSE_MILLIS)) {
        pauseMillis = SHORTEST_PAUSE_MILLIS;
      }
      long pause = pauseMillis;
      pauseMillis = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
      return pause;
    }

    private Lease acquire() throws InterruptedException {
      enter();
      try {
        return lock.acquire();
      } finally {
        leave();
      }
    }

    private void serve(LedTerm now) throws InterruptedException {
      enter();
      try {
        candidate.onGranted(now);
        publish(events -> events.publishOnGranted(MortiseLeaderInitiator.this, now, lock.name()));
        now.yielded.await();
      } finally {
        leave();
      }
    }

    /** Begins the part that a stop interrupts, an earlier stop included. */
    private void enter() {
      interruptGuard.lock();
      try {
        interruptible = true;
        if (ended.getCount() == 0) {
          thread.interrupt();
        }
      } finally {
        interruptGuard.unlock();
      }
    }

    /** No interrupt comes from here on: {@code onRevoked} runs to its end. */
    private void leave() {
      interruptGuard.lock();
      try {
        interruptible = false;
      } finally {
        interruptGuard.unlock();
      }
    }

    private void revoke(LedTerm now) {
      try {
        candidate.onRevoked(now);
      } catch (Throwable e) {
        log.warn(
            "The candidate '{}' failed when revoked from '{}'.",
            candidate.getId(),
            LockName.of(lock.name()),
            e);
      }
      publish(events -> events.publishOnRevoked(MortiseLeaderInitiator.this, now, lock.name()));
    }

    private void publish(Consumer<LeaderEventPublisher> event) {
      LeaderEventPublisher events = publisher;
      if (events != null) {
        try {
          event.accept(events);
        } catch (Throwable e) {
          log.warn("A listener for events of leadership '{}' failed.", LockName.of(lock.name()), e);
        }
      }
    }

    private void pause(long millis) {
      try {
        boolean unused = ended.await(millis, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        log.debug("Leadership '{}': interrupted.", LockName.of(lock.name()));
      }
    }

    void end() {
      ended.countDown();
      LedTerm now = current;
      if (now != null) {
        now.yield();
      }
      interruptGuard.lock();
      try {
        if (interruptible) {
          thread.interrupt();
        }
      } finally {
        interruptGuard.unlock();
      }
      if (thread == Thread.currentThread()) {
        return;
      }
      awaitEnd();
    }

    /** Also for an interrupted thread: its next step may be to close the client. */
    private void awaitEnd() {
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
      boolean interrupted = false;
      for (long left = until - System.nanoTime();
          left > 0 && thread.isAlive();
          left = until - System.nanoTime()) {
        try {
          TimeUnit.NANOSECONDS.timedJoin(thread, left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A term of leadership. */
  private final class LedTerm implements Context {
    final Lease lease;
    final CountDownLatch yielded = new CountDownLatch(1);

    LedTerm(Lease lease) {
      this.lease = lease;
    }

    @Override
    public boolean isLeader() {
      return term.get() == this && yielded.getCount() > 0 && lease.isValid();
    }

    @Override
    public void yield() {
      yielded.countDown();
    }

    @Override
    public String getRole() {
      return candidate.getRole();
    }

    @Override
    public String toString() {
      return "Leadership[" + lock.name() + ", " + candidate.getId() + ", " + lease + "]";
    }
  }

  private final class NoTerm implements Context {
    @Override
    public boolean isLeader() {
      return false;
    }

    @Override
    public String getRole() {
      return candidate.getRole();
    }
  }
}
