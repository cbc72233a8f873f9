package io.mortise.spi;

import java.time.Duration;

/** The result of {@link LockStore#judge}. */
public sealed interface SessionVerdict {
  /** The session has ended, for ever. */
  record SessionEnded() implements SessionVerdict {}

  /** The session lives, for at least {@code left} by the store's time. */
  record Alive(long beat, Duration left) implements SessionVerdict {}
}
