package io.mortise.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis: what the store needs of a client library, and nothing else. Reconnects
 * by itself, but never sends a command twice and never keeps one for later: while there is no
 * connection, commands fail at once.
 *
 * <p>Commands leave in the order of the calls as long as these are made on the wire's own thread.
 */
interface RedisWire extends AutoCloseable {
  /** Runs something on the wire's own thread, at once if this is it. */
  void execute(Runnable task);

  /** Runs something on the wire's own thread later. */
  void schedule(Runnable task, Duration delay);

  /** Whether there is a connection now. */
  boolean isOpen();

  /** EVALSHA. Completes on any thread with text, a list of such, or null. */
  CompletionStage<@Nullable Object> run(Script script, boolean list, String[] keys, String[] args);

  /** Makes the script known to the server; commands that follow find it. */
  CompletionStage<?> load(Script script);

  /** SCAN. */
  CompletionStage<Scan> scan(String cursor, String pattern, int count);

  /** Passes on what is published to the channel, also after a reconnect. */
  void subscribe(String channel, Consumer<String> listener);

  /** Ends a subscription. */
  void unsubscribe(String channel);

  /** Drops the connection, which is then made anew: for one that does not answer. */
  void reset();

  @Override
  void close();

  /** Keys found, and where to go on; "0" at the end. */
  record Scan(String cursor, List<String> keys) {}
}
