package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PowerLossDisks;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisabledOnOs(OS.WINDOWS)
class FileAliasCheckTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @TempDir Path directory;

  private Path first;
  private Path second;

  @BeforeEach
  void makeFolders() throws IOException {
    // With a blank, which the kernel escapes in its list of mounts.
    first = Files.createDirectory(directory.resolve("one folder")).resolve("locks.db");
    second = Files.createDirectory(directory.resolve("another folder")).resolve("locks.db");
  }

  private static LockStore open(Path file) {
    return JdbcStore.open("jdbc:sqlite:" + file);
  }

  private static void assertRefused(Path file, String why) {
    assertThatThrownBy(() -> open(file))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(file.getFileName().toString())
        .hasMessageContaining(why)
        .hasMessageContaining("mount the folder");
  }

  @Test
  void givenHardLink_whenOpenedByEitherName_thenItIsRefused_untilTheLinkIsGone() throws Exception {
    open(first).close();
    Files.createLink(second, first);

    assertRefused(first, "has 2 names");
    assertRefused(second, "has 2 names");

    Files.delete(second);
    open(first).close();
  }

  @Test
  void givenLinkMadeWhileAnotherHolds_whenExamined_thenItIsTold_andTheLinkIsRefused()
      throws Exception {
    try (LockStore store = open(first)) {
      TestSession holder = new TestSession(store, TTL);
      holder.granted("a", holder.attempt());
      Files.createLink(second, first);

      StoreReport report = TestSession.get(store.examine());

      assertThat(report.findings())
          .filteredOn(finding -> finding.id().equals("reach"))
          .singleElement()
          .satisfies(
              finding -> {
                assertThat(finding.grade()).isEqualTo(StoreReport.Grade.WEAK);
                assertThat(finding.value()).contains("2 names");
                assertThat(finding.remedy()).contains("mount the folder");
              });
      assertRefused(second, "has 2 names");
      assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
    }
  }

  @Test
  void givenFileMountedByItself_whenOpenedThere_thenItIsRefused_overASymbolicLinkToo()
      throws Exception {
    open(first).close();
    Files.createFile(second);
    try (Mount mount = Mount.bind(first, second)) {
      assertRefused(mount.point(), "is mounted by itself");
      Path link = Files.createSymbolicLink(directory.resolve("link.db"), second);
      assertThatThrownBy(() -> open(link))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("is mounted by itself");
      open(first).close();
    }
  }

  @Test
  void givenFolderMountedTwice_whenOneHolds_thenTheOtherWaitsAndIsWoken() throws Exception {
    try (Mount mount = Mount.bind(first.getParent(), second.getParent())) {
      assertThatHandOffWorks(first, mount.point().resolve("locks.db"));
    }
  }

  @Test
  void givenSymbolicLinkToTheFile_whenOneHolds_thenTheOtherWaitsAndIsWoken() throws Exception {
    open(first).close();
    assertThatHandOffWorks(first, Files.createSymbolicLink(second, first));
  }

  private static void assertThatHandOffWorks(Path one, Path other) throws Exception {
    try (LockStore holds = open(one);
        LockStore waits = open(other)) {
      TestSession holder = new TestSession(holds, TTL);
      TestSession waiter = new TestSession(waits, TTL);
      AttemptId held = holder.attempt();
      holder.granted("a", held);
      assertThat(waiter.acquire("a", waiter.attempt())).isInstanceOf(Reply.Queued.class);
      holder.abandon("a", held);
      assertThat(waiter.hints.poll(20, TimeUnit.SECONDS))
          .isInstanceOf(SessionNotification.HoldGranted.class);
    }
  }

  @Test
  void givenHolder_whenTheFileIsMovedAway_thenItIsTold_andNoMoreLocksAreGiven() throws Exception {
    try (LockStore store = open(first)) {
      TestSession holder = new TestSession(store, TTL);
      holder.granted("a", holder.attempt());

      Files.move(first, second);

      assertToldAndRefused(holder);
    }
  }

  @Test
  void givenHolder_whenTheFileIsRemovedAndMadeAgain_thenItIsTold_andNoMoreLocksAreGiven()
      throws Exception {
    try (LockStore store = open(first)) {
      TestSession holder = new TestSession(store, TTL);
      holder.granted("a", holder.attempt());

      Files.delete(first);
      try (LockStore other = open(first)) {
        TestSession next = new TestSession(other, TTL);
        next.granted("a", next.attempt());
        assertToldAndRefused(holder);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-wal", "-shm", "-wal -shm"})
  void givenHolder_whenTheLogIsRemoved_thenItIsTold_andNoMoreLocksAreGiven(String gone)
      throws Exception {
    try (LockStore store = open(first)) {
      TestSession holder = new TestSession(store, TTL);
      holder.granted("a", holder.attempt());

      for (String suffix : gone.split(" ", -1)) {
        Files.delete(first.resolveSibling(first.getFileName() + suffix));
      }

      assertToldAndRefused(holder);
    }
  }

  @Test
  void givenOneWhoOpensAndCloses_whenAnotherHolds_thenTheLogStaysTheSame() {
    try (LockStore store = open(first)) {
      TestSession holder = new TestSession(store, TTL);
      for (int i = 0; i < 3; i++) {
        try (LockStore other = open(first)) {
          TestSession next = new TestSession(other, TTL);
          next.granted("a" + i, next.attempt());
        }
        assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class);
      }
    }
  }

  private static void assertToldAndRefused(TestSession holder) {
    assertThat(holder.renew())
        .isEqualTo(
            new Renewal.Lost("the file of the store, or its log, was moved, replaced or removed"));
    Reply.Failed failed = (Reply.Failed) holder.acquire("b", holder.attempt());
    assertThat(failed.mayHaveRun()).isFalse();
    assertThat(failed.cause())
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("or its log, was moved, replaced or removed");
  }

  @Test
  void givenPathsAsTheKernelWritesThem_thenTheyAreTheSame() {
    assertThat(FileAliasCheck.escaped("/a b/c\\d\te\nf")).isEqualTo("/a\\040b/c\\134d\\011e\\012f");
  }

  /** A file or folder that is reached by a second path; for root on Linux. */
  private record Mount(Path point, Process lifeline) implements AutoCloseable {
    static Mount bind(Path what, Path where) throws Exception {
      boolean done =
          PowerLossDisks.mayMount()
              && new ProcessBuilder("mount", "--bind", what.toString(), where.toString())
                      .start()
                      .waitFor()
                  == 0;
      Assumptions.assumeTrue(done, "SKIPPED: a bind mount needs root that may mount.");
      // Unmounts also if this JVM is killed.
      return new Mount(
          where,
          new ProcessBuilder("sh", "-c", "read _; umount -l \"$1\"", "sh", where.toString())
              .start());
    }

    @Override
    public void close() throws IOException {
      lifeline.getOutputStream().close();
      assertThat(lifeline.onExit().orTimeout(20, TimeUnit.SECONDS).join().exitValue()).isZero();
    }
  }
}
