package io.mortise.spring.boot;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports that the store did not answer at the start, or must not be used as it is. */
final class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockException> {
  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, LockException cause) {
    if (cause instanceof StoreUnavailableException) {
      return new FailureAnalysis(
          "The store of the locks could not be reached. " + cause.getMessage(),
          "Start the store, or correct mortise.url or the properties of the bean that it is opened"
              + " over.",
          cause);
    }
    if (cause instanceof StoreUnfitException) {
      return new FailureAnalysis(
          "The store of the locks must not be used as it is. " + cause.getMessage(),
          "Change the store as described, or choose another one by mortise.url or mortise.store-bean.",
          cause);
    }
    return null;
  }
}
