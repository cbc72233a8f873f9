package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rolling upgrade: this version understands the tables and rows of earlier releases whose tables
 * have the same version.
 */
class EarlierTablesTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  /** The tables of version 1: the SHA-256 of their statements, without comments and layout. */
  private static final Map<String, String> VERSION_1 =
      Map.of(
          "mariadb", "577fccf0d3f8d764b2426e602268db2f4177166cc26a393e3229c3f7b2e6dc6b",
          "mysql", "e4fffc7a322387dc77c1bdbb918de9e25f5ff76a816b72826d2f53bf3aa624ca",
          "postgresql", "d911332919e7e42fbdc1827506ce1577f420b12e1ad14a537e1ace23dfdac017",
          "sqlite", "4bde301dc1fe5790b1e9c348977f55d3f453dd7df07f07bfbb7e6dd806f52cf9");

  @TempDir Path directory;
  private Connection keep;
  private LockStore store;
  private TestSession later;

  @BeforeEach
  void open() throws Exception {
    String url = "jdbc:sqlite:" + directory.resolve("earlier.db");
    JdbcStore.open(url).close(); // makes the tables
    keep = DriverManager.getConnection(url);
    long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    try (Statement statement = keep.createStatement()) {
      statement.executeUpdate(resource("earlier_tables_1.sql").replace(":now", Long.toString(now)));
    }
    store = JdbcStore.open(url);
    later = new TestSession(store, TTL);
  }

  @AfterEach
  void close() throws SQLException {
    store.close();
    keep.close();
  }

  @Test
  void givenTablesOfVersion1_thenTheirStatementsAreThoseOfItsFirstRelease() throws Exception {
    Map<String, String> now = new TreeMap<>();
    for (String product : VERSION_1.keySet()) {
      now.put(product, sum(resource("/META-INF/mortise/" + product + "/schema.sql")));
    }
    assertThat(now)
        .as(
            "Before 0.1.0 is released: take the new sums. Afterwards: other tables need another"
                + " VERSION in ServerDatabase and SqliteFile, a step in the changelog, and a test"
                + " like this one.")
        .isEqualTo(new TreeMap<>(VERSION_1));
    try (Statement statement = keep.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT content FROM mortise_meta WHERE fact = 'schema'")) {
      assertThat(row.next()).isTrue();
      assertThat(row.getString(1)).isEqualTo("1");
    }
  }

  @Test
  void givenSumOfStatements_whenOnlyCommentsAndBlanksDiffer_thenItIsTheSame() throws Exception {
    String table = "-- a comment\nCREATE TABLE a (\n  b INTEGER\n);\n";
    assertThat(sum("CREATE TABLE a ( b INTEGER );")).isEqualTo(sum(table));
    assertThat(sum("CREATE TABLE a ( b BIGINT );")).isNotEqualTo(sum(table));
  }

  @Test
  void givenHolderOfAnEarlierRelease_whenThisOneAcquires_thenItQueuesBehindIt() {
    Reply.Queued queued = (Reply.Queued) later.acquire("held", later.attempt());
    assertThat(queued.ahead()).isZero();
    assertThat(queued.holder().attempt()).isEqualTo(AttemptId.parse("EarlierLives---------0"));
    assertThat(queued.holder().token()).isEqualTo(1795644803853586L);
  }

  @Test
  void givenWaiterOfAnEarlierRelease_whenThisOneAcquires_thenItIsNext() {
    AttemptId attempt = later.attempt();
    assertThat(((Reply.Queued) later.acquire("awaited", attempt)).ahead()).isEqualTo(1);

    later.submit(
        new Request.Abandon(LockName.of("awaited"), AttemptId.parse("EarlierLives---------1")));
    Reply.Queued queued = (Reply.Queued) later.acquire("awaited", attempt);
    assertThat(queued.holder().attempt()).isEqualTo(AttemptId.parse("EarlierLives---------6"));

    later.submit(
        new Request.Abandon(LockName.of("awaited"), AttemptId.parse("EarlierLives---------6")));
    assertThat(later.granted("awaited", attempt).token()).isGreaterThan(1795644803853587L);
  }

  @Test
  void givenHolderThatDiedWithAnEarlierRelease_whenThisOneAcquires_thenItsTokenIsGreater()
      throws Exception {
    try (LockClient client = LockClient.builder().store(store).ttl(TTL).build();
        Lease lease = client.lock("dead").acquireWithin(TTL)) {
      assertThat(lease.token()).isGreaterThan(7000000000000000L);
    }
  }

  @Test
  void givenLockThatAnEarlierReleaseHadLast_whenThisOneAcquires_thenItsTokenIsGreater() {
    assertThat(later.granted("free", later.attempt()).token()).isGreaterThan(8000000000000000L);
  }

  @Test
  void givenReaderAndPermitsOfAnEarlierRelease_whenThisOneAcquires_thenTheyCount() {
    assertThat(acquire("shared", Mode.EXCLUSIVE)).isInstanceOf(Reply.Busy.class);
    assertThat(acquire("shared", Mode.SHARED)).isInstanceOf(Reply.Granted.class);
    assertThat(acquire("permits", Mode.permits(2, 3))).isInstanceOf(Reply.Busy.class);
    assertThat(acquire("permits", Mode.permits(1, 3))).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void givenAtLeastTimeOfAnEarlierRelease_whenThisOneAcquires_thenTheLockIsShut() {
    assertThat(acquire("shut", Mode.EXCLUSIVE)).isInstanceOf(Reply.Busy.class);
  }

  private Reply acquire(String name, Mode mode) {
    return later.submit(
        TestSession.request(name, later.attempt(), mode, false, HoldTerms.NONE, null));
  }

  private static String sum(String schema) throws Exception {
    StringBuilder statements = new StringBuilder();
    for (String line : schema.lines().toList()) {
      int comment = line.indexOf("--");
      statements.append(comment < 0 ? line : line.substring(0, comment)).append(' ');
    }
    String text = statements.toString().replaceAll("\\s+", " ").strip();
    return HexFormat.of()
        .formatHex(
            MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = EarlierTablesTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
