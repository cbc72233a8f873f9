package io.mortise.spring.boot;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;

/** Keeps the report that Spring Boot would print of a failed start; Spring Boot creates it. */
public final class RecordingFailureReporter implements FailureAnalysisReporter {
  private static final AtomicReference<@Nullable FailureAnalysis> LAST = new AtomicReference<>();

  /** The last analysis since the last call; null if there is none. */
  static @Nullable FailureAnalysis take() {
    return LAST.getAndSet(null);
  }

  @Override
  public void report(FailureAnalysis analysis) {
    LAST.set(analysis);
  }
}
