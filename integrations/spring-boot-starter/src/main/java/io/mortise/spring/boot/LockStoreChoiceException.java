package io.mortise.spring.boot;

import org.jspecify.annotations.Nullable;

/** The properties and beans of an application do not determine the store of its locks. */
final class LockStoreChoiceException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String problem;
  private final String action;

  /**
   * With the remedy.
   *
   * @param problem one or more sentences
   * @param action one or more sentences
   */
  LockStoreChoiceException(String problem, String action) {
    this(problem, action, null);
  }

  /** With a cause. */
  LockStoreChoiceException(String problem, String action, @Nullable Throwable cause) {
    super(problem + " " + action, cause);
    this.problem = problem;
    this.action = action;
  }

  String problem() {
    return problem;
  }

  String action() {
    return action;
  }
}
