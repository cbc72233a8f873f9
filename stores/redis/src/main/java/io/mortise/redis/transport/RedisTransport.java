package io.mortise.redis.transport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis: what the store needs of a client library, and nothing else. Reconnects
 * by itself, but never sends a command twice and never keeps one for later: while there is no
 * connection, commands fail at once.
 *
 * <p>Commands leave in the order of the calls as long as these are made under {@link #execute}, one
 * at a time.
 */
public interface RedisTransport extends AutoCloseable {
  /**
   * Runs something on the thread from which commands leave in order, at once if this is it. A
   * transport that keeps the order of all threads runs it here and now.
   */
  void execute(Runnable task);

  /** As {@link #execute}, later. */
  void schedule(Runnable task, Duration delay);

  /** Whether there is a connection now. */
  boolean isOpen();

  /**
   * Sends a command. The stage completes on any thread with what was answered: a text, a {@link
   * Long}, a list of such, or null. It fails with {@link ErrorReplyException} if the server
   * answered with an error, with {@link NotSentException} if the command was surely not sent, else
   * with whatever broke the connection.
   */
  CompletionStage<@Nullable Object> call(String... words);

  /**
   * As {@link #call}, for a script whose answers may be grants. Where replicas are waited for, a
   * grant that too few of them have acknowledged in time becomes an answer that says so.
   */
  default CompletionStage<@Nullable Object> callGranting(String... words) {
    return call(words);
  }

  /**
   * As {@link #call}, for a renewal. Where replicas are waited for, it fails if too few of them
   * have acknowledged it in time.
   */
  default CompletionStage<@Nullable Object> callRenewing(String... words) {
    return call(words);
  }

  /**
   * Says why commands fail while there is no connection, in a sentence that tells since when and
   * what became of the last try to make one, as far as that is known.
   */
  default String outageReason() {
    return "There is no connection.";
  }

  /** The connection that commands travel on now. */
  default TransportConnection connection() {
    return new TransportConnection() {
      @Override
      public CompletionStage<@Nullable Object> call(String... words) {
        return RedisTransport.this.call(words);
      }

      @Override
      public CompletionStage<Long> acknowledged(int replicas, Duration timeout) {
        return call("WAIT", Integer.toString(replicas), Long.toString(timeout.toMillis()))
            .thenApply(answer -> answer instanceof Long count ? count : 0L);
      }
    };
  }

  /** What is called on it travels on no other connection, and fails if it breaks. */
  interface TransportConnection {
    /** As {@link RedisTransport#call}. */
    CompletionStage<@Nullable Object> call(String... words);

    /**
     * How many replicas have all that was called on it before, when that are so many or the time is
     * over. The server does nothing else for the connection meanwhile; those who ask at one time
     * may be told by one answer.
     */
    CompletionStage<Long> acknowledged(int replicas, Duration timeout);
  }

  /**
   * Whether a command that was answered with this error was not executed but will be, if it is sent
   * again, perhaps after a while.
   *
   * @param refusals how often it was refused so before
   * @return after how long; null if sending it again is of no use
   */
  default @Nullable Duration retryAfter(ErrorReplyException error, int refusals) {
    return null;
  }

  /**
   * Passes on what is published to the channel, also after a reconnect. The listener must be fast
   * and must not throw.
   */
  void subscribe(String channel, Consumer<String> listener);

  /**
   * Whether what is published to the channel reaches this process now: somebody has subscribed, and
   * the server has confirmed it on the connection in use and has not ended it since. False from the
   * moment at which the connection is known to be broken. A subscription that the server refuses or
   * ends is asked for again after a while. Does not block; thread-safe.
   */
  boolean isSubscribed(String channel);

  /**
   * Whether the server has refused to subscribe to the channel, and would again: the user may not.
   * False as long as that is not known. Does not block; thread-safe.
   */
  boolean isDenied(String channel);

  /** Ends a subscription. */
  void unsubscribe(String channel);

  /**
   * Offers a thread that waits for an answer and has nothing else to do: the transport may let it
   * read from the connection, which saves waking it. Returns at once if the transport has no use
   * for it, else when the thread's answer has come or, at the latest, after a millisecond or two.
   *
   * @param done whether the thread has no reason to wait any more
   * @param expected whether the answer to what was sent is still to come
   */
  default void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {}

  /** Says that no thread may {@link #readOnCaller} for what is sent now. */
  default void requireReaderThread() {}

  /** Drops the connection, which is then made anew: for one that does not answer. */
  void reset();

  /**
   * Ends the connection for good; commands that wait for an answer fail. Blocks for seconds at
   * most.
   */
  @Override
  void close();
}
