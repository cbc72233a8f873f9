package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Assumptions;

/** Plays a story for a test. */
final class HazardRunner {
  private HazardRunner() {}

  /** What was told. Where a server is missing the test is skipped, or on CI fails. */
  static String play(String name) throws Exception {
    Hazard hazard = HazardCatalog.find(name).orElseThrow();
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    try (HazardContext hazardContext =
        new HazardContext(new PrintStream(told, true, UTF_8), null)) {
      hazard.story().play(hazardContext);
    } catch (MissingProgramException e) {
      skip(e);
    } finally {
      System.out.print(told.toString(UTF_8));
    }
    return told.toString(UTF_8);
  }

  static void skip(MissingProgramException missing) {
    if (Boolean.getBoolean("mortise.ci")) {
      throw new AssertionError("CI may not skip this.", missing);
    }
    Assumptions.abort("SKIPPED: " + missing.getMessage());
  }
}
