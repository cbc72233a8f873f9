package io.mortise.quorum;

import io.mortise.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/** The messages when too few members answer. */
final class QuorumErrors {
  private QuorumErrors() {}

  static StoreUnavailableException unavailable(String message, @Nullable Throwable cause) {
    return cause == null
        ? new StoreUnavailableException(message)
        : new StoreUnavailableException(message, cause);
  }
}
