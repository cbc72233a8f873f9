package io.mortise.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the property or dependency that is missing, wrong or ambiguous. */
final class LockStoreChoiceFailureAnalyzer
    extends AbstractFailureAnalyzer<LockStoreChoiceException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, LockStoreChoiceException cause) {
    return new FailureAnalysis(cause.problem(), cause.action(), cause);
  }
}
