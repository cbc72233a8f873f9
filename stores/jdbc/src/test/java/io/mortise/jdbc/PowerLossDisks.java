package io.mortise.jdbc;

import io.mortise.testkit.server.LossyDisk;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** Disks on which the power can be cut. */
public final class PowerLossDisks {
  private PowerLossDisks() {}

  /** Whether this is root, and Linux. */
  public static boolean mayMount() {
    return System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux")
        && "root".equals(System.getProperty("user.name"));
  }

  /** A disk; skips the test where there is none, as without root. */
  public static LossyDisk lossy() {
    Optional<LossyDisk> disk = LossyDisk.mount();
    Assumptions.assumeTrue(
        disk.isPresent(), "SKIPPED: a power cut needs root that may mount a file system.");
    return disk.orElseThrow();
  }
}
