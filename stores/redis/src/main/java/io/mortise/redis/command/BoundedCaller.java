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
 * Waits for answers on one connection, for each at most the timeout. A connection that does not
 * answer is dropped, as is one to a replica. Thread-safe.
 */
public final class BoundedCaller {
  /** Errors of a server that has not executed the request. */
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

  /** Uses a store's connection; messages name the store by its display name. */
  public BoundedCaller(RedisTransport transport, Duration timeout, String display) {
    this.transport = transport;
    this.timeout = timeout;
    this.display = display;
  }

  /**
   * Sends a command, if there is a connection.
   *
   * @return completes on any thread; exceptionally with {@link StoreUnavailableException} only,
   *     whose cause is the failure
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
      // The client library does not know the command.
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Whether a replica refused; a script's error has the code inside its text. */
  private static boolean isReadOnly(Throwable cause) {
    return cause instanceof ErrorReplyException
        && String.valueOf(cause.getMessage()).contains("READONLY");
  }

  /** False only if the failed command surely was not executed. */
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
   * The exception for users that reports a failed request of the store. The cause is a {@link
   * StoreUnfitException} if the server lacks or forbids a command.
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
