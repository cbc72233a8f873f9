package io.mortise.spi;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One process's liveness bond to a store, through which it acquires. All holds of the process
 * depend on it.
 *
 * <p>Thread-safe. Nothing here waits for a network; an embedded store may do its bounded local work
 * on the caller's thread. Requests of one attempt are executed in the order in which they were
 * submitted. If requests gather, those that end or adjust an attempt should go before acquires of
 * other attempts, so that a release does not queue behind polls. The engine never submits two
 * requests of one lock name at the same time from two threads.
 */
public interface StoreSession {
  /** The id with which it was opened. */
  SessionId id();

  /**
   * Sends a request, together with others that gather meanwhile. Calls {@code sink} exactly once,
   * on any thread, perhaps before this method returns, never while holding a lock of the store.
   * Does not throw.
   */
  void submit(Request request, Consumer<Reply> sink);

  /**
   * As {@link #submit}, for a request whose answer no caller waits for. A store may keep it for a
   * millisecond at most, so that it shares a round trip with the next request.
   */
  default void submitLater(Request request, Consumer<Reply> sink) {
    submit(request, sink);
  }

  /**
   * Renews the session, in one try, on a connection or thread of its own that no backlog of
   * requests can delay: a compare-and-set of the beat. Accepted if the store's beat is {@code
   * previous} (the ordinary case) or {@code next} (the reply of an earlier try was lost). Any other
   * beat means that the process was cloned: the answer is {@link Renewal.Lost}. A {@code previous}
   * of 0 creates the session. An ended session is never created again by another beat, nor by this
   * one if it arrives later than {@link StoreProfile#maxInFlight} after it was sent.
   *
   * @param previous the last beat that the store confirmed, 0 for the first renewal
   * @param next greater than {@code previous}, at most 2^53, and unguessable for a clone
   * @param seen ids of notifications not to be repeated
   * @return completes normally always, with {@link Renewal.Unknown} if the store did not answer
   */
  CompletionStage<Renewal> renew(long previous, long next, List<Long> seen);

  /**
   * As {@link #renew(long, long, List)}, but the session lives for {@code ttl} from this renewal
   * on, even if that is earlier than the end that the previous renewal set. The engine uses it
   * while a process waits and holds nothing, so that its place in the queue is given up soon after
   * it has stopped. After an {@link Renewal.Unknown} either end may apply. Without {@link
   * Capability#VARIABLE_TTL} the engine never calls it; the default ignores {@code ttl}.
   *
   * @param ttl at most that of the session's {@link SessionSpec}, and at least {@link
   *     StoreProfile#minTtl}
   */
  default CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    return renew(previous, next, seen);
  }

  /**
   * Registers a callback for signs that the server was restarted or replaced; called on any thread
   * with no lock held. The engine then renews at once, and sees by {@link
   * Renewal.Renewed#incarnation} whether it has to confirm its holds. Called at most once. A store
   * whose server does not forget does nothing.
   */
  default void onSuspectedRestart(Runnable renewNow) {}

  /**
   * Registers a callback for the loss of a connection on which the session relies, with its reason;
   * called on any thread with no lock held. The engine logs it at once, and renews. Called at most
   * once. A store that learns of a loss only by requests does nothing.
   */
  default void onConnectionLost(Consumer<String> lost) {}

  /**
   * Whether others judge the session by how long its beat has not changed, so that a repeated
   * renewal with the same beat changes nothing for them. The engine then counts from its first
   * sending of that beat, regardless of which try was answered. Does not block.
   */
  default boolean isJudgedByBeat() {
    return false;
  }

  /**
   * Whether call-backs may reach this session, pushed or by a look. False once it is known that
   * they do not: the server does not let its user listen, or a connection pooler blocks them. The
   * engine keeps no grant idle then, even with {@link Capability#CALL_BACK}. Does not block.
   */
  default boolean receivesPushes() {
    return true;
  }

  /**
   * How long the notification that a hold is wanted may stay unread, apart from round trips, where
   * none is pushed: the pause between two looks. Zero where they are pushed. Has a meaning with
   * {@link Capability#CALL_BACK} only. Does not block.
   */
  default Duration callBackDelay() {
    return Duration.ZERO;
  }

  /**
   * Reads the notifications that were left to the session, and hands on those that it has not
   * handed on yet, as if they were pushed. While the process keeps holds idle, the engine calls
   * this after each {@link #callBackDelay}, or each second where they are pushed, since a push may
   * be lost. One call is in flight. A store that looks by itself does nothing.
   *
   * @return completes exceptionally if the store did not answer. The engine then renews, and takes
   *     no idle hold until that is confirmed
   */
  default CompletionStage<Void> lookForCallBacks() {
    return CompletableFuture.completedFuture(null);
  }

  /**
   * Ends the session in the store, best effort; hands no lock over. Requests submitted later are
   * answered {@link Reply.RefusalReason#SESSION_GONE}.
   */
  CompletionStage<Void> close();
}
