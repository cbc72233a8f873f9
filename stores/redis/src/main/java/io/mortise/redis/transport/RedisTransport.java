package io.mortise.redis.transport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis: all that the store needs of a client library. Reconnects by itself, but
 * never sends a command twice and never keeps one for later. Without a connection, commands fail at
 * once.
 *
 * <p>Commands leave in the order of the calls as long as these are made under {@link #execute}, one
 * at a time.
 */
public interface RedisTransport extends AutoCloseable {
  /**
   * Runs a task on the thread from which commands leave in order, at once if called there. A
   * transport that keeps the order of all threads runs it in the caller.
   */
  void execute(Runnable task);

  /** As {@link #execute}, later. */
  void schedule(Runnable task, Duration delay);

  /** Whether there is a connection now. */
  boolean isOpen();

  /**
   * Sends a command. The stage completes on any thread with the answer: a text, a {@link Long}, a
   * list of such, or null. It fails with {@link ErrorReplyException} if the server answered with an
   * error, with {@link NotSentException} if the command was surely not sent, else with the failure
   * that broke the connection.
   */
  CompletionStage<@Nullable Object> call(String... words);

  /**
   * As {@link #call}, for a script whose answers may be grants. If replicas are waited for, a grant
   * without enough acknowledgements in time becomes an answer that says so.
   */
  default CompletionStage<@Nullable Object> callGranting(String... words) {
    return call(words);
  }

  /**
   * As {@link #call}, for a renewal. If replicas are waited for, it fails without enough
   * acknowledgements in time.
   */
  default CompletionStage<@Nullable Object> callRenewing(String... words) {
    return call(words);
  }

  /**
   * Explains in a sentence why commands fail while there is no connection: since when, and how the
   * last attempt to connect ended, as far as known.
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

  /** A connection whose commands travel on no other, and fail if it breaks. */
  interface TransportConnection {
    /** As {@link RedisTransport#call}. */
    CompletionStage<@Nullable Object> call(String... words);

    /**
     * How many replicas have all commands called on it before, once they are that many or the time
     * is over. The server does nothing else for the connection meanwhile; concurrent callers may
     * share one answer.
     */
    CompletionStage<Long> acknowledged(int replicas, Duration timeout);
  }

  /**
   * Whether a command that was answered with this error was not executed, but will be if it is sent
   * again.
   *
   * @param refusals how many times it was refused so before
   * @return the delay before sending it again; null if that is of no use
   */
  default @Nullable Duration retryAfter(ErrorReplyException error, int refusals) {
    return null;
  }

  /**
   * Passes on messages published to the channel, also after a reconnect. The listener must be fast
   * and must not throw.
   */
  void subscribe(String channel, Consumer<String> listener);

  /**
   * Whether messages published to the channel reach this process now: it is subscribed, the server
   * has confirmed that on the connection in use, and has not ended it since. False as soon as the
   * connection is known to be broken. A subscription that the server refuses or ends is retried
   * after a while. Does not block; thread-safe.
   */
  boolean isSubscribed(String channel);

  /**
   * Whether the server has refused to subscribe to the channel, and would again, since the user
   * lacks the right. False as long as that is not known. Does not block; thread-safe.
   */
  boolean isDenied(String channel);

  /** Ends a subscription. */
  void unsubscribe(String channel);

  /**
   * Offers a thread that waits for an answer and has nothing else to do. The transport may let it
   * read from the connection, which saves waking it. Returns at once if the transport has no use
   * for it, else when the thread's answer has come or, at the latest, after a millisecond or two.
   *
   * @param done whether the thread has no reason to wait any more
   * @param expected whether the answer is still to come
   */
  default void readOnCaller(BooleanSupplier done, BooleanSupplier expected) {}

  /** Forbids {@link #readOnCaller} for the commands sent now. */
  default void requireReaderThread() {}

  /** Drops a connection that does not answer; the transport reconnects. */
  void reset();

  /** Closes the connection for good; pending commands fail. Blocks for seconds at most. */
  @Override
  void close();
}
