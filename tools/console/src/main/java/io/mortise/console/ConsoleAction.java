package io.mortise.console;

import io.mortise.annotation.Beta;
import java.util.Locale;

/** What a console may do, besides looking. */
@Beta
public enum ConsoleAction {
  /**
   * Tell a holder to let go, with the lock shut until it has; and end a wait: {@link
   * io.mortise.admin.Eviction#CLOSE}.
   */
  CLOSE,
  /** Free a lock at once: {@link io.mortise.admin.Eviction#BREAK}. */
  BREAK,
  /** Open a lock that nobody holds and that is kept shut. */
  OPEN;

  /** As people write it: {@code close}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
