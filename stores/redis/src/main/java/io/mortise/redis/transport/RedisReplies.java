package io.mortise.redis.transport;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Reads the answer or failure of a command. */
public final class RedisReplies {
  private RedisReplies() {}

  /** The failure without the {@link CompletionException}s that stages wrap it in. */
  public static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? unwrap(cause) : failure;
  }

  /** Whether the answer is the integer 1. */
  public static boolean isOne(@Nullable Object answer) {
    return Long.valueOf(1).equals(answer);
  }
}
