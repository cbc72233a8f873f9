package io.mortise.spi;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One process's liveness bond to a store, through which it acquires. All that the process holds
 * hangs on it.
 *
 * <p>Thread-safe. Nothing here waits for a network; an embedded store may do its bounded local work
 * on the caller's thread. Requests of one attempt are executed in the order in which they were
 * submitted. Where requests gather, those that end or adjust an attempt should go before acquires
 * of other attempts, so that a release does not stand behind polls. The engine never submits two
 * requests of one lock name at the same time from two threads.
 */
public interface StoreSession {
  /** The id that it was opened with. */
  SessionId id();

  /**
   * Sends a request, together with others that gather meanwhile. Calls {@code sink} exactly once,
   * on any thread, perhaps before this method returns, never while holding a lock of the store.
   * Does not throw.
   */
  void submit(Request request, Consumer<Reply> sink);

  /**
   * As {@link #submit}, for a request whose answer nobody waits for. A store may keep it for a
   * millisecond at most, so that it travels together with what is submitted next.
   */
  default void submitLater(Request request, Consumer<Reply> sink) {
    submit(request, sink);
  }

  /**
   * Renews the session, in one try, on a connection or thread of its own that no backlog of
   * requests can delay: a compare-and-set of the beat. Accepted if the store's beat is {@code
   * previous} (go on) or {@code next} (the reply of an earlier try was lost); any other means that
   * the process was cloned, and answers {@link Renewal.Lost}. A {@code previous} of 0 creates the
   * session; what has ended is never created again by another beat, nor by this one if it arrives
   * later than {@link StoreProfile#maxInFlight} after it was sent.
   *
   * @param previous the last beat that the store confirmed, 0 for the first renewal
   * @param next greater than {@code previous}, at most 2^53, and not to be guessed by a clone
   * @param seen ids of notifications not to be told again
   * @return completes normally always, with {@link Renewal.Unknown} if the store did not answer
   */
  CompletionStage<Renewal> renew(long previous, long next, List<Long> seen);

  /**
   * As {@link #renew(long, long, List)}, but the session lives for {@code ttl} from this renewal
   * on, also if that ends it earlier than the renewal before would have. The engine uses it while a
   * process waits and holds nothing, so that its place in the queue is given up soon after it has
   * stopped. After an {@link Renewal.Unknown} the session may have either end. Without {@link
   * Capability#VARIABLE_TTL} the engine never calls it; the default ignores {@code ttl}.
   *
   * @param ttl at most that of the session's {@link SessionSpec}, and at least {@link
   *     StoreProfile#minTtl}
   */
  default CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    return renew(previous, next, seen);
  }

  /**
   * Tells what to call, on any thread and with no lock held, whenever there is reason to think that
   * the server was restarted or is another one: the engine then renews at once, and sees by {@link
   * Renewal.Renewed#incarnation} whether it has to look after its locks. Called at most once. A
   * store whose server does not forget does nothing.
   */
  default void onSuspectedRestart(Runnable renewNow) {}

  /**
   * Tells what to call, on any thread and with no lock held, when a connection broke that the
   * session relies on, and why: the engine says so in the log at once, and renews. Called at most
   * once. A store that learns of it by requests alone does nothing.
   */
  default void onConnectionLost(Consumer<String> lost) {}

  /**
   * Whether others judge the session by how long its beat has not changed, and a renewal that is
   * sent again with the same beat changes nothing for them. The engine then counts from when it
   * sent that beat first, whichever try was answered. Does not block.
   */
  default boolean isJudgedByBeat() {
    return false;
  }

  /**
   * Whether pushes may reach this session. False once it is known that they do not: the server does
   * not let its user listen, or a pooler is in the way. The engine keeps no grant idle then,
   * whatever {@link Capability#CALL_BACK} says. Does not block.
   */
  default boolean receivesPushes() {
    return true;
  }

  /**
   * Ends the session in the store, best effort; hands nothing over. Requests submitted later are
   * answered {@link Reply.RefusalReason#SESSION_GONE}.
   */
  CompletionStage<Void> close();
}
