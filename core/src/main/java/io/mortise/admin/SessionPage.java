package io.mortise.admin;

import io.mortise.annotation.Beta;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of {@link LockAdmin#sessions}; each session is a snapshot of its own.
 *
 * @param next where the next page begins; null if this was the last
 */
@Beta
public record SessionPage(List<SessionInfo> sessions, @Nullable String next) {
  /** Copies the list. */
  public SessionPage {
    sessions = List.copyOf(sessions);
  }
}
