package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of {@link LockAdmin#survey}; each lock is a snapshot of its own.
 *
 * @param next where the next page begins; null if this was the last
 */
@Beta
public record SurveyPage(List<LockSummary> locks, @Nullable String next) {
  /** Copies the list. */
  public SurveyPage {
    locks = List.copyOf(locks);
  }
}
