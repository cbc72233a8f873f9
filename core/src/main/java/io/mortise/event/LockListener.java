package io.mortise.event;

import io.mortise.admin.LockParticipant.Access;
import io.mortise.annotation.Beta;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Receives the events of a client's locks: acquires, waits, the ends of leases, renewals, outages.
 * For metrics, traces and logs. Register it by {@link io.mortise.LockClientBuilder#listener}.
 *
 * <p><b>Threads.</b> A listener is called for the start and the end of an acquire, and for a
 * release, on the thread of that call, before the call returns. It is called for the end of an
 * asynchronous acquire on a thread of Mortise's own before the future completes, or on the thread
 * that cancels the future. All other events reach it on threads of Mortise's own, one event at a
 * time, in the order in which they happened. Calls may overlap, so a listener must be thread-safe.
 * Mortise holds no lock during a call, and never calls on the thread that renews sessions: a slow
 * listener delays acquires, releases and later events, but no renewal and no loss.
 *
 * <p><b>Order.</b> Each acquire has three events, each once: its start, its end, and the end of its
 * lease if it got one. If the lease is lost before the caller has it, the caller's thread makes the
 * last two calls. The event about a place in a queue comes on another thread, and may come after
 * the end of the wait.
 *
 * <p><b>Cost.</b> Mortise calls the methods that a listener overrides, and no others. A listener
 * that overrides none of the methods about acquires and leases makes them no slower.
 *
 * <p><b>Failures.</b> Mortise logs and ignores exceptions and errors of a listener. The first one
 * is a warning.
 *
 * <p><b>Backlog.</b> While a listener blocks, at most 1,024 events about queues and renewals wait
 * for it, and Mortise drops later ones. It never drops losses and changes of sessions.
 *
 * <p>A {@link io.mortise.JavaLock} has events for its outermost hold only, not for re-entry. A lock
 * group has the events of each of its locks.
 */
@Beta
public interface LockListener {
  /** An acquire begins. {@link #onAcquireEnded} follows in every case. */
  default void onAcquireStarted(AcquireStarted event) {}

  /** The store has put an attempt into its queue, or at another place of it. */
  default void onAcquireQueued(AcquireQueued event) {}

  /** An acquire has ended, by a grant or otherwise. */
  default void onAcquireEnded(AcquireEnded event) {}

  /**
   * A lease has ended. The event of a release comes when the store has answered, so that it can say
   * that the lease had been lost before. With {@link io.mortise.LockOptions#releaseAsync()} the
   * caller does not wait for that answer, and the event comes when the release was sent.
   */
  default void onLeaseEnded(LeaseEnded event) {}

  /** A renewal of a session was answered, or failed. */
  default void onSessionRenewed(SessionRenewed event) {}

  /** A session was opened, is in trouble, has recovered, or is over. */
  default void onSessionChanged(SessionChanged event) {}

  /**
   * One call that acquires a lock, named by all events about it and its lease. Immutable.
   *
   * @param id tells calls apart, of all clients of this JVM; never used again
   * @param lock the lock's name, as the application gave it: do not use it as a metric tag, as
   *     names are unbounded
   * @param access the requested access
   * @param label as {@link io.mortise.LockOptions#withLabel} gave it; empty if there is none
   * @param store the store, as the log names it; without credentials
   */
  record AcquireCall(long id, String lock, Access access, String label, String store) {}

  /** The outcomes of an acquire. */
  enum AcquireOutcome {
    /** The caller has a lease. */
    GRANTED,
    /** Another holds or waits for the lock, and the call did not wait. */
    BUSY,
    /** The lock was not granted within the time to wait. */
    TIMEOUT,
    /** {@link io.mortise.LockOptions#withMaxWaiters} waiters were there already. */
    QUEUE_FULL,
    /** The waiting thread was interrupted. */
    INTERRUPTED,
    /** The future of an asynchronous acquire was cancelled or completed by somebody else. */
    CANCELLED,
    /** The store did not answer. Not known to be contention. */
    UNAVAILABLE,
    /**
     * The store or the client refused: a store that is unfit or lacks a feature, an operator who
     * ended the wait, a thread that would wait for itself, a client that is closed.
     */
    REFUSED
  }

  /**
   * An acquire begins; nothing has been sent yet. An {@link AcquireEnded} about the same call
   * follows in every case.
   *
   * @param call the acquire
   */
  record AcquireStarted(AcquireCall call) {}

  /**
   * The store has put an attempt of this process into the lock's queue, or at another place of it.
   * One attempt stands for all threads of the process that wait for the lock in the same mode,
   * unless they are fair; the event names the call that is served first.
   *
   * @param call the first of the acquires for which the attempt stands
   * @param ahead how many attempts may be before it in the store's queue; an upper bound
   */
  record AcquireQueued(AcquireCall call, int ahead) {}

  /**
   * An acquire has ended. If it was granted, a {@link LeaseEnded} about the same call follows when
   * its lease ends, unless the client's process ends first.
   *
   * @param call the acquire
   * @param outcome how it ended
   * @param waited from the call to its end, on the client's monotonic clock
   * @param token the fencing token of the grant; empty if there was none, or if the store mints
   *     none
   * @param reason for people, why it was not granted; empty if it was, or if the outcome says it
   *     all
   */
  record AcquireEnded(
      AcquireCall call,
      AcquireOutcome outcome,
      Duration waited,
      OptionalLong token,
      String reason) {}

  /**
   * A lease has ended, by its release or by its loss.
   *
   * @param call the acquire that it came from
   * @param end the cause of the end
   * @param held from the end of the acquire to the release or the loss, on the client's monotonic
   *     clock
   * @param token its fencing token; empty if the store mints none
   * @param reason for people, why it was lost; empty if it was released in the store; {@code idle,
   *     kept for 3s} if this process keeps a sticky lock's grant
   */
  record LeaseEnded(
      AcquireCall call, LeaseEnd end, Duration held, OptionalLong token, String reason) {}

  /**
   * The bond of a client to a store, or to one part of a store in parts. All holds of the client
   * there depend on it. Immutable.
   *
   * @param id never used again
   * @param store the store, as the log names it; without credentials
   * @param client as {@link io.mortise.LockClientBuilder#name} gave it; empty if there is no name
   * @param ttl how long it lives after its last renewal
   */
  record LockSession(String id, String store, String client, Duration ttl) {}

  /** The outcomes of a session's renewal. */
  enum RenewalOutcome {
    /** The store confirmed it. */
    RENEWED,
    /** There was no answer; the session is renewed again until its time is over. */
    UNANSWERED,
    /** The store no longer knows the session. */
    LOST
  }

  /**
   * A renewal of a session was answered, or failed.
   *
   * @param session the session
   * @param outcome the outcome
   * @param took from the request to its answer or failure
   * @param ttl the TTL that was asked for: the session's TTL, or less while the process only waits
   *     and holds nothing
   * @param remaining how long the session is valid from the call of the listener on if it is not
   *     renewed again; zero if it is over
   * @param reason for people, why it was not renewed; empty if it was
   */
  record SessionRenewed(
      LockSession session,
      RenewalOutcome outcome,
      Duration took,
      Duration ttl,
      Duration remaining,
      String reason) {}

  /** The states of a session. */
  enum SessionState {
    /** The store has confirmed it for the first time. */
    OPENED,
    /** Renewals fail or are late; leases are lost if that lasts. */
    UNANSWERED,
    /** Renewals are answered again. */
    ANSWERED,
    /**
     * The store was restarted or failed over: it may have forgotten locks, and leases are not valid
     * until it has confirmed them.
     */
    IN_DOUBT,
    /** It is over, and with it all its leases. The next acquire opens another. */
    LOST,
    /** The client was closed. */
    CLOSED
  }

  /**
   * A session has changed its state.
   *
   * @param session the session
   * @param state the new state
   * @param leases the number of its leases; for a lost session the number of leases lost
   * @param remaining how long the session is valid from the call of the listener on if it is not
   *     renewed again; zero if it is over
   * @param reason for people; empty if the state says it all
   */
  record SessionChanged(
      LockSession session, SessionState state, int leases, Duration remaining, String reason) {}
}
