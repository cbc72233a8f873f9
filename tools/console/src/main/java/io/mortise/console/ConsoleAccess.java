package io.mortise.console;

import io.mortise.annotation.Beta;

/** What a request to a {@link ConsoleServlet} may have. */
@Beta
public enum ConsoleAccess {
  /** Nothing: 403. */
  NONE,
  /** All answers, and no action. */
  LOOK,
  /** Besides, the actions of {@link ConsoleBuilder#allow}. */
  ACT
}
