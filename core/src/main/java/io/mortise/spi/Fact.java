package io.mortise.spi;

import io.mortise.annotation.Beta;

/**
 * A small text that a store keeps under a name, beside its locks and apart from them.
 *
 * @param version changes with each replacement, and never comes back while the store's clock does
 *     not; 0 if there is no text. Microseconds since 1970 on the store's clock when it was written,
 *     or a little more; on that of the host which wrote it, in a clockless store
 * @param content at most {@link #MAX_CHARS} printable ASCII characters; empty if there is none
 */
@Beta
public record Fact(long version, String content) {
  /** The longest content that every store keeps. */
  public static final int MAX_CHARS = 8_192;

  /** There is no text under that name, or its time is over. */
  public static final Fact NONE = new Fact(0, "");
}
