package io.mortise.console;

import io.mortise.annotation.Beta;

/** Access rights of a request to a {@link ConsoleServlet}. */
@Beta
public enum ConsoleAccess {
  /** Nothing: 403. */
  NONE,
  /** All answers, and no action. */
  LOOK,
  /** All answers, and the actions of {@link ConsoleBuilder#allow}. */
  ACT
}
