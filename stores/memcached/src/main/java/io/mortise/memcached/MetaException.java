package io.mortise.memcached;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Why there is no answer to a request. */
final class MetaException extends IOException {
  private static final long serialVersionUID = 1L;

  private final FailureKind kind;

  /** Whether the request was executed. */
  enum FailureKind {
    /** It was surely not executed. */
    NOT_SENT,
    /** It may have been executed, or will be. */
    UNANSWERED,
    /** It was not executed, as the server has no room. */
    FULL
  }

  MetaException(FailureKind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  FailureKind kind() {
    return kind;
  }
}
