package io.mortise.spring;

import java.util.List;

/**
 * Methods with {@link Locked} that cannot work: the message has each of them, with what to change.
 * Thrown when the context starts; and when such a method is called, if that is earlier.
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
