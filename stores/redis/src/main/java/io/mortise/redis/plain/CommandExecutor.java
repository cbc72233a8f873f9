package io.mortise.redis.plain;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.redis.command.BoundedCaller;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.LuaScript;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.redis.transport.RedisTransport;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Sends commands on one connection, in order, and waits for each at most the timeout. */
final class CommandExecutor {
  private final RedisTransport transport;
  private final BoundedCaller caller;

  CommandExecutor(RedisTransport transport, Duration timeout, String display) {
    this.transport = transport;
    this.caller = new BoundedCaller(transport, timeout, display);
  }

  /**
   * Completes on any thread; exceptionally with {@link StoreUnavailableException} only, see {@link
   * #failure}.
   */
  CompletableFuture<@Nullable Object> call(RedisCommand command) {
    return caller.call(
        () -> {
          CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
          transport.execute(() -> send(command, answer));
          return answer;
        });
  }

  private void send(RedisCommand command, CompletableFuture<@Nullable Object> answer) {
    try {
      CompletionStages.copy(
          transport.call(command.array()).exceptionallyCompose(failure -> again(command, failure)),
          answer);
    } catch (RuntimeException e) {
      // The client library does not know the command.
      answer.completeExceptionally(e);
    }
  }

  /**
   * If the server has forgotten a script, its text is sent. Later commands overtake it, which is
   * harmless: each compares with a value of its own.
   */
  private CompletionStage<@Nullable Object> again(RedisCommand command, Throwable failure) {
    LuaScript script = command.script();
    return script != null
            && RedisReplies.unwrap(failure) instanceof ErrorReplyException error
            && error.is("NOSCRIPT")
        ? transport.call(command.whole(script).array())
        : CompletableFuture.failedFuture(failure);
  }

  /** The reason why a command has no answer; empty if the failure is another. */
  static Optional<CommandFailure> failure(@Nullable Throwable failure) {
    return failure != null
            && RedisReplies.unwrap(failure) instanceof StoreUnavailableException unavailable
            && unavailable.getCause() != null
        ? Optional.of(new CommandFailure(unavailable, answer(unavailable.getCause())))
        : Optional.empty();
  }

  /** The raw failure, also if it makes the server unfit. */
  private static Throwable answer(Throwable cause) {
    return cause instanceof StoreUnfitException && cause.getCause() != null
        ? cause.getCause()
        : cause;
  }

  /** The reason why there is no answer, for users and raw. */
  record CommandFailure(StoreUnavailableException unavailable, Throwable cause) {
    /** False only if the command surely was not executed. */
    boolean mayHaveRun() {
      return BoundedCaller.mayHaveRun(cause);
    }

    boolean is(String code) {
      return cause instanceof ErrorReplyException error && error.is(code);
    }
  }
}
