package io.mortise.spi;

import io.mortise.annotation.Beta;

/**
 * A small text that a store keeps under a name, independent of its locks.
 *
 * @param version changes with each replacement, and never repeats unless the store's clock goes
 *     back; 0 if there is no text. Microseconds since 1970 at the time of the write, or a little
 *     more, on the store's clock; in a clockless store, on the clock of the writer's host
 * @param content at most {@link #MAX_CHARS} printable ASCII characters; empty if there is none
 */
@Beta
public record Fact(long version, String content) {
  /** The longest content that every store keeps. */
  public static final int MAX_CHARS = 8_192;

  /** No text under that name, or its time is over. */
  public static final Fact NONE = new Fact(0, "");
}
