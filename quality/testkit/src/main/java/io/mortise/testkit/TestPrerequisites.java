package io.mortise.testkit;

import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** Requirements of a test on its machine. Thread-safe. */
public final class TestPrerequisites {
  private TestPrerequisites() {}

  /**
   * Returns the requirement if present. Otherwise skips the test; with {@code -Dmortise.ci=true},
   * which forbids skipping, fails it.
   *
   * @param what the name of the requirement, for the message
   * @throws org.opentest4j.TestAbortedException if it is missing
   * @throws AssertionError if it is missing and may not be
   */
  public static <T> T required(Optional<T> found, String what) {
    if (found.isEmpty() && Boolean.getBoolean("mortise.ci")) {
      throw new AssertionError(what + " is missing, and CI may not skip it.");
    }
    Assumptions.assumeTrue(found.isPresent(), () -> "SKIPPED: " + what + " is missing.");
    return found.orElseThrow();
  }
}
