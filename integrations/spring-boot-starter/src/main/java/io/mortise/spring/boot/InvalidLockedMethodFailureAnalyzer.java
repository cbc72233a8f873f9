package io.mortise.spring.boot;

import io.mortise.spring.InvalidLockedMethodException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists the methods with {@code @Locked} that cannot work, each with its remedy. */
final class InvalidLockedMethodFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidLockedMethodException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidLockedMethodException cause) {
    return new FailureAnalysis(
        String.join(System.lineSeparator(), cause.problems()),
        "Change each of the methods above as its message says.",
        cause);
  }
}
