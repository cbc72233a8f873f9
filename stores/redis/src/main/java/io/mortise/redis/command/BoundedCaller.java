package io.mortise.redis.command;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.NotSentException;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for answers on one connection, for each no longer than the timeout. A connection that does
 * not answer is dropped, and so is one to a replica. Thread-safe.
 */
public final class BoundedCaller {
  /** What a server says of a request that it has not executed. */
  private static final List<String> REFUSALS =
      List.of(
          "OOM",
          "BUSY",
          "LOADING",
          "READONLY",
          "NOPERM",
          "MASTERDOWN",
          "MISCONF",
          "NOREPLICAS",
          "CLUSTERDOWN",
          "MOVED",
          "ASK",
          "TRYAGAIN");

  private final RedisTransport transport;
  private final Duration timeout;
  private final String display;

  /** Over a connection of a store, which messages call by its display name. */
  public BoundedCaller(RedisTransport transport, Duration timeout, String display) {
    this.transport = transport;
    this.timeout = timeout;
    this.display = display;
  }

  /**
   * Sends something, if there is a connection.
   *
   * @return completes on any thread; exceptionally with {@link StoreUnavailableException} only,
   *     whose cause is what went wrong
   */
  public <T extends @Nullable Object> CompletableFuture<T> call(
      Supplier<CompletionStage<T>> sending) {
    return sent(sending)
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (answer, failure) -> {
              if (failure == null) {
                return answer;
              }
              Throwable cause = RedisReplies.unwrap(failure);
              if (cause instanceof TimeoutException || isReadOnly(cause)) {
                transport.reset();
              }
              throw unavailable(mayHaveRun(cause), cause);
            });
  }

  private <T extends @Nullable Object> CompletableFuture<T> sent(
      Supplier<CompletionStage<T>> sending) {
    if (!transport.isOpen()) {
      return CompletableFuture.failedFuture(new NotSentException(transport.outageReason()));
    }
    try {
      return sending.get().toCompletableFuture();
    } catch (RuntimeException e) {
      // A client library that does not know the command.
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Said by a replica, in the midst of a text if it comes from a script. */
  private static boolean isReadOnly(Throwable cause) {
    return cause instanceof ErrorReplyException
        && String.valueOf(cause.getMessage()).contains("READONLY");
  }

  /** False only if what failed so was surely not executed. */
  public static boolean mayHaveRun(Throwable cause) {
    return !(cause instanceof NotSentException)
        && !(cause instanceof ErrorReplyException error
            && (error.refusedCommand() != null || REFUSALS.stream().anyMatch(error::is)));
  }

  /** The change that an operator must make; null if the server may serve the next request. */
  private @Nullable StoreUnfitException unfit(Throwable cause) {
    return cause instanceof ErrorReplyException error && error.refusedCommand() != null
        ? new StoreUnfitException(
            "The server refuses the command %s (store=%s): %s. Allow it to this user under its own name."
                .formatted(error.refusedCommand(), display, error.getMessage()),
            cause)
        : null;
  }

  /**
   * What a request of the store failed with, for users. The cause is a {@link StoreUnfitException}
   * if the server lacks or forbids a command.
   */
  public StoreUnavailableException unavailable(boolean mayHaveRun, Throwable cause) {
    String what =
        cause instanceof ErrorReplyException
            ? "refused a request"
            : cause instanceof NotSentException ? "cannot be asked" : "did not answer";
    StoreUnfitException unfit = unfit(cause);
    String reason =
        cause instanceof TimeoutException
            ? "no answer within " + DurationText.format(timeout)
            : cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return new StoreUnavailableException(
        "Redis %s (store=%s): %s The request %s."
            .formatted(
                what,
                display,
                reason.endsWith(".") ? reason : reason + ".",
                mayHaveRun ? "may have been executed" : "was not executed"),
        unfit == null ? cause : unfit);
  }
}
