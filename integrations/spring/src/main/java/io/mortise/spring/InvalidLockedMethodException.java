package io.mortise.spring;

import java.util.List;

/**
 * Reports methods with {@link Locked} that cannot work, each with its remedy. Thrown when the
 * context starts, or by an earlier call of such a method.
 */
public final class InvalidLockedMethodException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String[] problems;

  InvalidLockedMethodException(List<String> problems) {
    super(
        problems.size() == 1
            ? problems.get(0)
            : problems.size()
                + " methods with @Locked cannot work:\n- "
                + String.join("\n- ", problems));
    this.problems = problems.toArray(String[]::new);
  }

  /** One sentence or more for each method, with its remedy. */
  public List<String> problems() {
    return List.of(problems);
  }
}
