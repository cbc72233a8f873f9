package io.mortise.torture.hazards;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.torture.hazards.UnexpectedOutcomeException.NaiveLockSurvivedException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Assumptions;

/** Runs a story for a test. */
final class HazardRunner {
  private HazardRunner() {}

  /**
   * Runs a story and returns its output. If the naive lock did not break this time, the last line
   * says so, and Mortise's half has been judged: see {@link #assumeBroke}. If a server is missing,
   * the test is skipped, or on CI fails.
   */
  static String play(String name) throws Exception {
    Hazard hazard = HazardCatalog.find(name).orElseThrow();
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    try (HazardContext hazardContext =
        new HazardContext(new PrintStream(told, true, UTF_8), null)) {
      hazard.scenario().play(hazardContext);
    } catch (NaiveLockSurvivedException e) {
      told.writeBytes((e.getMessage() + System.lineSeparator()).getBytes(UTF_8));
    } catch (MissingProgramException e) {
      skip(e);
    } finally {
      System.out.print(told.toString(UTF_8));
    }
    return told.toString(UTF_8);
  }

  /** Skips the rest of the test, on CI as well, if the naive lock was lucky in all rounds. */
  static void assumeBroke(String told) {
    if (told.contains("the naive lock did not break this time")) {
      System.err.println("SKIPPED: the naive lock did not break this time; Mortise's half held.");
      Assumptions.abort("SKIPPED: the naive lock did not break this time; Mortise's half held.");
    }
  }

  static void skip(MissingProgramException missing) {
    if (Boolean.getBoolean("mortise.ci")) {
      throw new AssertionError("CI may not skip this.", missing);
    }
    Assumptions.abort("SKIPPED: " + missing.getMessage());
  }
}
