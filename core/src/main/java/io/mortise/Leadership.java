package io.mortise;

import io.mortise.admin.LockParticipant;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One candidate for the leadership of a name. It runs its task while it leads. Made by {@link
 * LockClient#leader}; thread-safe.
 *
 * <p>The leader is the holder of the exclusive lock of that name. A candidate stands until it is
 * closed: after a loss, and after its task has ended, it queues again. Two candidates of one client
 * compete with each other. A candidate costs no thread; its task gets a daemon thread of its own
 * for each term.
 *
 * <p>Leadership is as safe as a lock is: a leader that was paused for longer than its session's TTL
 * may still act for a moment beside its successor. Only a resource that compares {@link
 * Term#token()} is safe from that.
 */
public interface Leadership extends AutoCloseable {
  /** The name of the leadership and of its lock. */
  String name();

  /** The present state of this candidate. */
  CandidateState state();

  /**
   * Whether this candidate leads, as {@link Term#isLeading()} of its present term: one clock
   * reading, no I/O. The answer can become false right after the check.
   */
  boolean isLeader();

  /**
   * The leader of all processes, as the store knows it: its process, its label, since when, and the
   * token of its term. Blocks for one round trip.
   *
   * @return empty if nobody leads
   * @throws StoreUnavailableException if the store does not answer
   * @throws LockException if the thread is interrupted, whose flag stays set
   * @throws IllegalStateException if the client is closed
   */
  Optional<LockParticipant> current();

  /**
   * Calls the listener with the present state, then with each later change of this candidate, in
   * order and one at a time, on a thread of Mortise's own. A listener that blocks delays later
   * changes to all listeners of this candidate, never the task. Changes of other processes are not
   * reported: see {@link #current()}.
   */
  void onChange(Consumer<? super Change> listener);

  /**
   * The latest failure of the task or of an attempt to lead.
   *
   * @return empty if none has failed so far
   */
  Optional<Throwable> lastFailure();

  /**
   * Hands the leadership over: interrupts the task, keeps the lock until the task has ended, and
   * queues again behind all other candidates. Within the minimum term the task continues until that
   * is over. If nobody else is waiting, this candidate leads again, in a new term. Does nothing if
   * this candidate does not lead. Does not block.
   */
  void stepDown();

  /**
   * Ends the candidacy, once: interrupts the task if it runs, keeps the lock until it has ended,
   * then releases. Blocks until the store has answered, at most for the close timeout. A call from
   * the task itself does not wait for the task.
   *
   * <p>A task that runs for longer keeps the leadership, so that no other process leads at the same
   * time: the state stays {@link CandidateState#STOPPING}, and the release follows when the task
   * has ended. If this thread is interrupted, it stops waiting and keeps its flag.
   */
  @Override
  void close();

  /** The states of a candidate. */
  enum CandidateState {
    /** Waits to lead, or pauses before it queues again. */
    CANDIDATE,
    /** Leads: the task runs. */
    LEADING,
    /**
     * Its term is over or ending: the leadership is lost or is being given up, and the task is
     * still to end; or the task has ended within the minimum term.
     */
    STOPPING,
    /** Closed; nothing is left of it. */
    CLOSED
  }

  /**
   * A change of this candidate's state.
   *
   * @param state the new state
   * @param token the token of the term that begins or ends; 0 if there is none, or if the store has
   *     no tokens
   */
  record Change(CandidateState state, long token) {}

  /**
   * A term of a leader, given to its task. The object stays the same when the term is over: a later
   * term has an object of its own. Thread-safe; nothing here blocks.
   */
  interface Term {
    /** The name of the leadership. */
    String name();

    /**
     * The number of this term, which rises with each leader: the fencing token of the lock.
     *
     * @throws LeaseLostException if the leadership is lost
     * @throws UnsupportedByStoreException if the store has no fencing tokens
     */
    long token();

    /**
     * The token with the lock's name and the holder, for a guard.
     *
     * @throws LeaseLostException if the leadership is lost
     * @throws IllegalStateException if the term was ended by its release
     * @throws UnsupportedByStoreException if the store has no fencing tokens
     */
    FencingToken fencingToken();

    /**
     * Whether the task is to continue: the leadership is valid, and nobody has asked for its end. A
     * task that loops checks this before each step.
     */
    boolean isLeading();

    /**
     * Whether the leadership is valid, also while it is being given up: for the last steps of a
     * task that was asked to end.
     */
    boolean isValid();

    /**
     * Returns if {@link #isValid()}.
     *
     * @throws LeaseLostException if the leadership is lost, or not valid for the moment
     * @throws IllegalStateException if the term was ended by its release
     */
    void ensureValid();

    /** How long the leadership stays valid if it is not renewed again; zero if it is not valid. */
    Duration remaining();
  }
}
