package io.mortise.jdbc;

import io.mortise.testkit.Machine;
import io.mortise.testkit.Unpaused;
import io.mortise.testkit.server.FakeClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What becomes of locks when the clock of their host is set and the database is part of the
 * process: the same as {@link ServerClockSuite} says, played in a process of its own that asks to
 * have its clock set.
 */
@Timeout(200)
class EmbeddedClockTest {
  private static final String DONE = "done";

  /** Each in a process and with a clock of its own. */
  private enum Store {
    H2_MEMORY,
    H2_FILE,
    SQLITE_ELSEWHERE;

    String url(Path folder) {
      return switch (this) {
        case H2_MEMORY -> "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1";
        case H2_FILE -> "jdbc:h2:" + folder.resolve("locks");
        case SQLITE_ELSEWHERE -> "jdbc:sqlite:" + folder.resolve("locks.db");
      };
    }

    /** Hides what tells SQLite's processes that they all can read the monotonic clock. */
    List<String> prefix() {
      return this == SQLITE_ELSEWHERE
          ? List.of(
              "unshare",
              "-m",
              "sh",
              "-c",
              "mount -t tmpfs none /proc/sys/kernel/random && exec \"$@\"",
              "sh")
          : List.of();
    }
  }

  private static final Map<Store, CompletableFuture<Void>> BEGUN = new EnumMap<>(Store.class);

  @TempDir static Path folder;

  /** All at once: they wait more than they compute. */
  @BeforeAll
  static void begin() {
    clock().close();
    for (Store store : Store.values()) {
      if (store != Store.SQLITE_ELSEWHERE || Disks.mayMount()) {
        BEGUN.put(store, CompletableFuture.runAsync(() -> play(store)));
      }
    }
  }

  private static void check(Store store) {
    CompletableFuture<Void> running = BEGUN.remove(store);
    if (running == null) {
      play(store);
    } else {
      running.join();
    }
  }

  @Test
  @Unpaused
  void givenH2InMemory_whenItsClockIsSet_thenItIsAsOnAServer() {
    check(Store.H2_MEMORY);
  }

  @Test
  @Unpaused
  void givenH2InAFile_whenItsClockIsSet_thenItIsAsOnAServer() {
    check(Store.H2_FILE);
  }

  @Test
  @Unpaused
  void givenSqliteThatCountsByTheTimeOfDay_whenItIsSet_thenItIsAsOnAServer() {
    Assumptions.assumeTrue(Disks.mayMount(), "SKIPPED: hiding a folder needs root that may mount.");
    check(Store.SQLITE_ELSEWHERE);
  }

  private static FakeClock clock() {
    return Machine.required(FakeClock.installed(), "libfaketime");
  }

  private static void play(Store store) {
    try (FakeClock clock = clock()) {
      List<String> seen = new ArrayList<>(store.prefix());
      seen.addAll(clock.prefix());
      try (LockChild child =
          LockChild.start(seen, "clock", store.url(folder), ServerClockSuite.TTL)) {
        for (String line = child.line(); !line.equals(DONE); line = child.line()) {
          clock.set(Duration.parse(line));
          child.go();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** In the process whose clock it is. */
  static void playHere(String url) throws Exception {
    ServerClockSuite suite =
        new ServerClockSuite(Product.H2) {
          @Override
          String url() {
            return url;
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
    suite
        .givenHolders_whenTheClockIsSetBackByAnHour_thenTheDeadOneIsFollowedSoon_theLiveOneHoldsOn();
    suite.setRight();
    suite
        .givenLiveHolder_whenTheClockIsSetForward_thenAnotherMayHoldToo_butTheFirstIsToldAndFenced();
    System.out.println(DONE);
  }
}
