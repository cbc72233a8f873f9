package io.mortise.testkit;

import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** What a test needs of the machine it runs on. Safe for use by several threads. */
public final class TestPrerequisites {
  private TestPrerequisites() {}

  /**
   * What was found. Where there is none, the test is skipped; with {@code -Dmortise.ci=true}, under
   * which nothing may be skipped unseen, it fails.
   *
   * @param what what was looked for, for the message
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
