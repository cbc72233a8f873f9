package io.mortise.redis.plain;

import io.mortise.StoreUnavailableException;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.LuaScript;
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
import org.jspecify.annotations.Nullable;

/**
 * Sends commands on one connection, in order, and waits for each no longer than the timeout; a
 * connection that does not answer is dropped.
 */
final class CommandExecutor {
  private final RedisTransport transport;
  private final Duration timeout;
  private final String display;

  CommandExecutor(RedisTransport transport, Duration timeout, String display) {
    this.transport = transport;
    this.timeout = timeout;
    this.display = display;
  }

  /** Completes on any thread; exceptionally with {@link CommandFailure} only. */
  CompletableFuture<@Nullable Object> call(RedisCommand command) {
    CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
    transport.execute(() -> send(command, answer));
    return answer
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (value, failure) -> {
              if (failure == null) {
                return value;
              }
              Throwable cause = RedisReplies.unwrap(failure);
              if (cause instanceof TimeoutException) {
                transport.reset();
              }
              throw new CommandFailure(cause, unavailable(cause));
            });
  }

  private void send(RedisCommand command, CompletableFuture<@Nullable Object> answer) {
    if (!transport.isOpen()) {
      answer.completeExceptionally(new NotSentException(transport.outageReason()));
      return;
    }
    try {
      transport
          .call(command.array())
          .exceptionallyCompose(failure -> again(command, failure))
          .whenComplete(
              (value, failure) -> {
                if (failure == null) {
                  answer.complete(value);
                } else {
                  answer.completeExceptionally(RedisReplies.unwrap(failure));
                }
              });
    } catch (RuntimeException e) {
      // A client library that does not know the command.
      answer.completeExceptionally(e);
    }
  }

  /**
   * A script that the server has forgotten is sent whole. What was sent after it overtakes it,
   * which harms nobody: each compares with a value of its own.
   */
  private CompletionStage<@Nullable Object> again(RedisCommand command, Throwable failure) {
    LuaScript script = command.script();
    return script != null
            && RedisReplies.unwrap(failure) instanceof ErrorReplyException error
            && error.is("NOSCRIPT")
        ? transport.call(command.whole(script).array())
        : CompletableFuture.failedFuture(failure);
  }

  private StoreUnavailableException unavailable(Throwable cause) {
    String reason = cause.getMessage();
    if (cause instanceof TimeoutException) {
      reason = "no answer within " + DurationText.format(timeout);
    } else if (reason == null) {
      reason = cause.getClass().getSimpleName();
    }
    return new StoreUnavailableException(
        "Redis did not answer (store=%s): %s."
            .formatted(
                display, reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason),
        cause);
  }

  /** Why there is no answer. */
  static final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final List<String> REFUSALS =
        List.of("OOM", "BUSY", "LOADING", "READONLY", "NOPERM", "MASTERDOWN", "MISCONF");

    final transient StoreUnavailableException failure;

    CommandFailure(Throwable cause, StoreUnavailableException failure) {
      super(cause.getMessage(), cause, false, false);
      this.failure = failure;
    }

    static @Nullable CommandFailure of(@Nullable Throwable failure) {
      return failure == null
              || !(RedisReplies.unwrap(failure) instanceof CommandFailure commandFailure)
          ? null
          : commandFailure;
    }

    /** False only if it surely was not executed. */
    boolean mayHaveRun() {
      return !(getCause() instanceof NotSentException) && REFUSALS.stream().noneMatch(this::is);
    }

    boolean is(String code) {
      return getCause() instanceof ErrorReplyException error && error.is(code);
    }
  }
}
