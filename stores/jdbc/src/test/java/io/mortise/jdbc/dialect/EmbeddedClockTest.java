package io.mortise.jdbc.dialect;

import io.mortise.LockClient;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.LockProcess;
import io.mortise.jdbc.PowerLossDisks;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.FakeClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Locks of a SQLite file when the clock of the host is set: as {@link ServerClockSuite} says,
 * played in a process of its own that asks to have its clock set.
 */
@Timeout(200)
@Tag("extended")
public class EmbeddedClockTest {
  private static final String DONE = "done";

  /** Hides from a process what tells it that all of this host read the same monotonic clock. */
  private static final List<String> ELSEWHERE =
      List.of(
          "unshare",
          "-m",
          "sh",
          "-c",
          "mount -t tmpfs none /proc/sys/kernel/random && exec \"$@\"",
          "sh");

  @TempDir Path folder;

  @Test
  @RerunIfPaused
  void givenSqliteThatCountsByTheTimeOfDay_whenItIsSet_thenItIsAsOnAServer() throws Exception {
    Assumptions.assumeTrue(
        PowerLossDisks.mayMount(), "SKIPPED: hiding a folder needs root that may mount.");
    play(ELSEWHERE, "jdbc:sqlite:" + folder.resolve("locks.db"));
  }

  private static void play(List<String> prefix, String url) throws Exception {
    try (FakeClock clock = TestPrerequisites.required(FakeClock.installed(), "libfaketime")) {
      List<String> seen = new ArrayList<>(prefix);
      seen.addAll(clock.prefix());
      try (LockProcess child = LockProcess.start(seen, "clock", url, ServerClockSuite.TTL)) {
        for (String line = child.line(); !line.equals(DONE); line = child.line()) {
          clock.set(Duration.parse(line));
          child.go();
        }
      }
    }
  }

  /** In the process whose clock it is. */
  public static void playHere(String url) throws Exception {
    ServerClockSuite suite = new ServerClockSuite(DatabaseProduct.POSTGRESQL) { // is not started
          @Override
          String url() {
            return url;
          }

          @Override
          Duration ttl() {
            return TTL.multipliedBy(2);
          }

          @Override
          void set(Duration offset) {
            System.out.println(offset);
            try {
              if (System.in.read() < 0) {
                throw new AssertionError("The parent is gone.");
              }
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    // A JVM whose every look at the clock is slow: let it have loaded all of it before.
    try (LockClient client = suite.client()) {
      client.lock("warm-up").acquireWithin(ServerClockSuite.LONG).close();
    }
    suite.setRight();
    suite
        .givenHolders_whenTheClockIsSetBackByAnHour_thenTheDeadOneIsFollowedSoon_theLiveOneHoldsOn();
    suite.setRight();
    suite
        .givenLiveHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced();
    System.out.println(DONE);
  }
}
