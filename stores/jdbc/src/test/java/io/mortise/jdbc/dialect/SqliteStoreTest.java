package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.testkit.RerunIfPaused;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteStoreTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @TempDir Path directory;

  private Path file() {
    return directory.resolve("locks.db");
  }

  private LockStore open() {
    return open("");
  }

  private LockStore open(String parameters) {
    return JdbcStore.open("jdbc:sqlite:" + file() + parameters);
  }

  @Test
  void givenHolder_whenAnotherStoreWaits_thenReleaseHandsOverAndRingsItsBell() throws Exception {
    try (LockStore one = open();
        LockStore two = open()) {
      TestSession holder = new TestSession(one, TTL);
      TestSession waiter = new TestSession(two, TTL);
      AttemptId held = holder.attempt();
      AttemptId waits = waiter.attempt();
      long token = holder.granted("a", held).token();

      assertThat(waiter.acquire("a", waits)).isInstanceOf(Reply.Queued.class);
      assertThat(holder.hints.poll(20, TimeUnit.SECONDS))
          .isInstanceOf(SessionNotification.Contended.class)
          .extracting(SessionNotification::attempt)
          .isEqualTo(held);
      assertThat(holder.abandon("a", held))
          .isEqualTo(
              new Reply.Ended(held, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));

      SessionNotification.HoldGranted granted =
          (SessionNotification.HoldGranted) waiter.hints.poll(20, TimeUnit.SECONDS);
      assertThat(granted.attempt()).isEqualTo(waits);
      assertThat(granted.token()).isGreaterThan(token);
      assertThat(waiter.granted("a", waits).token()).isEqualTo(granted.token());
    }
  }

  @Test
  @RerunIfPaused
  void givenDeadHolder_whenContenderProvesIt_thenItTakesOverWithAHigherToken() {
    try (LockStore one = open();
        LockStore two = open()) {
      TestSession dead = new TestSession(one, Duration.ofSeconds(1));
      TestSession alive = new TestSession(two, TTL);
      AttemptId held = dead.attempt();
      AttemptId next = alive.attempt();
      long token = dead.granted("a", held).token();

      assertThat(alive.acquire("a", next)).isInstanceOf(Reply.Queued.class);
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> TestSession.get(two.judge(dead.id())) instanceof SessionVerdict.SessionEnded);
      Reply taken =
          alive.submit(
              TestSession.request(
                  "a", next, Mode.EXCLUSIVE, true, TestSession.NO_TERMS, dead.id()));

      assertThat(taken).isInstanceOf(Reply.Granted.class);
      assertThat(((Reply.Granted) taken).token()).isGreaterThan(token);
      assertThat(dead.renew()).isInstanceOf(Renewal.Lost.class);
      assertThat(dead.abandon("a", held).how()).isNotEqualTo(Reply.EndReason.RELEASED);
      assertThat(alive.granted("a", next).token()).isEqualTo(((Reply.Granted) taken).token());
    }
  }

  @Test
  void givenExpiredSession_whenItAcquires_thenItIsRefused() {
    try (LockStore store = open()) {
      TestSession session = new TestSession(store, Duration.ofMillis(100));
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> {
                Reply reply = session.acquire("a", session.attempt(), Mode.EXCLUSIVE, false);
                assertThat(reply).isInstanceOf(Reply.Refused.class);
                assertThat(((Reply.Refused) reply).why())
                    .isEqualTo(Reply.RefusalReason.SESSION_GONE);
              });
    }
  }

  @Test
  void givenStoreThatEndedOnAnotherBoot_whenOpened_thenItsSessionsAreDeadAndTokensGoOn()
      throws Exception {
    long token;
    try (LockStore store = open()) {
      TestSession session = new TestSession(store, TTL);
      token = session.granted("a", session.attempt()).token();
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
          Statement statement = connection.createStatement()) {
        statement.execute("UPDATE mortise_meta SET content = 'x time' WHERE fact = 'boot'");
      }
      try (LockStore next = open()) {
        assertThat(TestSession.get(next.judge(session.id())))
            .isInstanceOf(SessionVerdict.SessionEnded.class);
        TestSession other = new TestSession(next, TTL);
        Reply taken =
            other.submit(
                TestSession.request(
                    "a",
                    other.attempt(),
                    Mode.EXCLUSIVE,
                    true,
                    TestSession.NO_TERMS,
                    session.id()));
        assertThat(((Reply.Granted) taken).token()).isGreaterThan(token);
      }
    }
  }

  @Test
  void givenHolder_whenAllRowsAreDeleted_thenItIsTold_andTheNextTokenIsGreater() throws Exception {
    try (LockStore one = open();
        LockStore two = open()) {
      TestSession holder = new TestSession(one, TTL);
      long token = holder.granted("a", holder.attempt()).token();
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
          Statement statement = connection.createStatement()) {
        for (String table : List.of("session", "lock", "hold", "wait", "news")) {
          statement.executeUpdate("DELETE FROM mortise_" + table);
        }
      }
      TestSession next = new TestSession(two, TTL);
      assertThat(next.granted("a", next.attempt()).token()).isGreaterThan(token);
      assertThat(holder.renew()).isInstanceOf(Renewal.Lost.class);
    }
  }

  @Test
  void givenTwoNamespaces_whenBothLockOneName_thenBothHold() {
    try (LockStore one = open("?namespace=billing");
        LockStore two = open("?namespace=shipping")) {
      TestSession first = new TestSession(one, TTL);
      TestSession second = new TestSession(two, TTL);
      first.granted("a", first.attempt());
      second.granted("a", second.attempt());
    }
  }

  @Test
  void givenNewFile_whenMade_thenOnlyItsOwnerMayReadIt() throws Exception {
    try (LockStore store = open()) {
      TestSession session = new TestSession(store, TTL);
      session.granted("a", session.attempt());
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
          .isEqualTo("rw-------");
      Path folders = directory.resolve("locks.db.bells");
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> Files.isDirectory(folders));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folders)))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void givenCreateForbidden_whenTablesAreMissing_thenTheMessageSaysWhatToDo() throws Exception {
    assertThatThrownBy(() -> open("?create=false"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("schema.sql");
    Files.createFile(file());
    assertThatThrownBy(() -> open("?create=false"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("mortise_lock")
        .hasMessageContaining("schema.sql");
  }

  @Test
  void givenShippedSchema_whenLoadedByHand_thenAStoreThatMustNotCreateWorks() throws Exception {
    String ddl;
    try (var in = ClassLoader.getSystemResourceAsStream("META-INF/mortise/sqlite/schema.sql")) {
      ddl = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = connection.createStatement()) {
      for (String part : ddl.replaceAll("(?m)^--.*$", "").split(";", -1)) {
        if (!part.isBlank()) {
          statement.execute(part);
        }
      }
    }
    try (LockStore store = open("?create=false")) {
      TestSession session = new TestSession(store, TTL);
      session.granted("a", session.attempt());
    }
  }

  @Test
  void givenPrefix_whenOpened_thenTablesCarryIt() throws Exception {
    open("?prefix=app_").close();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'app!_%'"
                    + " ESCAPE '!'")) {
      row.next();
      assertThat(row.getInt(1)).isEqualTo(7);
    }
    assertThatThrownBy(() -> open("?prefix=a;b")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenFileThatIsNoDatabase_whenOpened_thenItIsUnfit() throws Exception {
    Files.writeString(
        file(), "this is not a database, but long enough to look like one ".repeat(20));
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("not a SQLite database");
  }

  @Test
  void givenNoDirectory_whenOpened_thenOnlyTheLastOneIsMade() {
    JdbcStore.open("jdbc:sqlite:" + directory.resolve("one/locks.db")).close();
    assertThatThrownBy(() -> JdbcStore.open("jdbc:sqlite:" + directory.resolve("x/y/locks.db")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("does not exist");
    assertThatThrownBy(() -> JdbcStore.open("jdbc:sqlite:" + directory))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("is a directory");
  }

  @Test
  void givenUrlThatIsNoFile_whenOpened_thenItIsRefused() {
    for (String url :
        new String[] {"jdbc:sqlite::memory:", "jdbc:sqlite:", "jdbc:sqlite:file:x?mode=memory"}) {
      assertThatThrownBy(() -> JdbcStore.open(url)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> open("?namspace=x")).hasMessageContaining("namespace");
  }

  @Test
  void givenFileSystemTypes_whenAsked_thenSharedOnesAreKnown() {
    assertThat(
            java.util.stream.Stream.of("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "ext4")
                .filter(SqliteLocation::isNetwork))
        .containsExactly("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p");
  }

  @Test
  void givenFileThatIsBeingWritten_whenOpenedByAnother_thenItNeedNotWaitForThat() throws Exception {
    open().close();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = connection.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      open().close();
      statement.execute("ROLLBACK");
    }
  }

  @Test
  void givenNewFile_whenManyOpenItAtOneTime_thenEachGetsTheLock() throws Exception {
    int many = 40;
    ExecutorService threads = Executors.newFixedThreadPool(many);
    try {
      CountDownLatch ready = new CountDownLatch(many);
      List<Future<Long>> tokens = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        tokens.add(
            threads.submit(
                () -> {
                  ready.countDown();
                  ready.await();
                  try (LockClient locks = LockClient.connect("jdbc:sqlite:" + file());
                      Lease lease = locks.lock("job").acquireWithin(Duration.ofSeconds(60))) {
                    return lease.token();
                  }
                }));
      }
      Set<Long> distinct = new HashSet<>();
      for (Future<Long> token : tokens) {
        distinct.add(token.get(90, TimeUnit.SECONDS));
      }
      assertThat(distinct).hasSize(many);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  @RerunIfPaused
  void givenFileHeldByAForeignTransaction_whenItEnds_thenTheRequestIsDoneLate() throws Exception {
    try (LockStore store = open();
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = connection.createStatement()) {
      TestSession session = new TestSession(store, TTL);
      statement.execute("BEGIN IMMEDIATE");
      java.util.concurrent.CompletableFuture<Reply> reply =
          new java.util.concurrent.CompletableFuture<>();
      session.session.submit(
          TestSession.request(
              "a", session.attempt(), Mode.EXCLUSIVE, true, TestSession.NO_TERMS, null),
          reply::complete);
      assertThat(reply).isNotDone();
      statement.execute("COMMIT");
      assertThat(TestSession.get(reply)).isInstanceOf(Reply.Granted.class);
    }
  }

  @Test
  void givenFileLockedForLong_whenAsked_thenTheAnswerSaysThatNothingRan() throws Exception {
    try (LockStore store = open();
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        Statement statement = connection.createStatement()) {
      TestSession session = new TestSession(store, TTL);
      statement.execute("BEGIN IMMEDIATE");
      Reply.Failed failed = (Reply.Failed) session.acquire("a", session.attempt());
      assertThat(failed.mayHaveRun()).isFalse();
      assertThat(failed.cause()).hasMessageContaining("was busy for 5s.");
      statement.execute("ROLLBACK");
      session.granted("a", session.attempt());
    }
  }

  @Test
  void givenClosedSession_whenAsked_thenItIsGoneAndItsBellToo() {
    try (LockStore store = open()) {
      TestSession session = new TestSession(store, TTL);
      session.granted("a", session.attempt());
      Path folder = directory.resolve("locks.db.bells").resolve(session.id().value());
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> Files.isDirectory(folder));
      TestSession.get(session.session.close());
      assertThat(folder).doesNotExist();
      Reply.Refused refused = (Reply.Refused) session.acquire("a", session.attempt());
      assertThat(refused.why()).isEqualTo(Reply.RefusalReason.SESSION_GONE);
    }
  }

  @Test
  void givenMoreReadersThanOneStepTouches_whenWriterWaits_thenAllAreToldAndItIsServed() {
    try (LockStore store = open()) {
      TestSession readers = new TestSession(store, TTL);
      TestSession writer = new TestSession(store, TTL);
      AttemptId[] reads = new AttemptId[150];
      for (int i = 0; i < reads.length; i++) {
        reads[i] = readers.attempt();
        assertThat(readers.acquire("a", reads[i], Mode.SHARED, true))
            .isInstanceOf(Reply.Granted.class);
      }
      AttemptId write = writer.attempt();
      for (int i = 0; i < 4; i++) {
        assertThat(writer.acquire("a", write)).isInstanceOf(Reply.Queued.class);
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(() -> assertThat(readers.hints).hasSize(reads.length));
      for (AttemptId read : reads) {
        assertThat(readers.abandon("a", read).was()).isEqualTo(Reply.AttemptState.HELD);
      }
      assertThat(writer.granted("a", write).wanted()).isFalse();
    }
  }

  @Test
  void givenMuchNewsThatNobodyAcknowledged_whenMoreComes_thenItIsPushedToo() throws Exception {
    try (LockStore one = open();
        LockStore two = open()) {
      TestSession holder = new TestSession(one, TTL);
      TestSession waiter = new TestSession(two, TTL);
      for (int i = 0; i < 150; i++) {
        AttemptId held = holder.attempt();
        AttemptId waits = waiter.attempt();
        holder.granted("a", held);
        assertThat(waiter.acquire("a", waits)).isInstanceOf(Reply.Queued.class);
        holder.abandon("a", held);
        SessionNotification sessionNotification = waiter.hints.poll(20, TimeUnit.SECONDS);
        assertThat(sessionNotification)
            .as("round " + i)
            .isInstanceOf(SessionNotification.HoldGranted.class);
        assertThat(sessionNotification.attempt()).isEqualTo(waits);
        waiter.abandon("a", waits);
      }
    }
  }
}
