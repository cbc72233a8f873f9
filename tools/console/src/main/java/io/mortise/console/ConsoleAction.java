package io.mortise.console;

import io.mortise.annotation.Beta;
import java.util.Locale;

/** Actions of a console, besides observation. */
@Beta
public enum ConsoleAction {
  /**
   * Ask a holder to release, with the lock taken until it has; and end a wait: {@link
   * io.mortise.admin.Eviction#CLOSE}.
   */
  CLOSE,
  /** Free a lock at once: {@link io.mortise.admin.Eviction#BREAK}. */
  BREAK,
  /** Open a lock that is shut without a holder. */
  OPEN;

  /** Its name in options: {@code close}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
