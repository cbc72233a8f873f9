package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.sql.TransactionOnce.KeptResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples of the two guides that are about SQL, to the letter. */
@ParameterizedClass
@EnumSource(names = {"H2", "POSTGRESQL"})
class ExamplesTest extends HelperTest {
  private static final Pattern EXAMPLE = Pattern.compile("(?s)```java\n(.*?)```");
  private static final Path GUIDES = Path.of("../../docs/guides");

  ExamplesTest(TestDatabase.Kind kind) {
    super(kind);
  }

  private int reports;

  private static long readBalance(Connection connection) throws SQLException {
    return balance(connection);
  }

  private static void writeBalance(Connection connection, long balance) throws SQLException {
    pay(connection, balance);
  }

  private static void stop() {}

  private void buildReport() {
    reports++;
  }

  private static byte[] receipt() {
    return new byte[] {1};
  }

  @Test
  void givenDocumentation_thenItsExamplesStandInThisFile() throws Exception {
    Path test = Path.of("src/test/java/io/mortise/sql/ExamplesTest.java");
    String code = squeezed(Files.readString(test));
    int examples = 0;
    for (String guide : List.of("lock-and-transaction.md", "sql-helpers.md")) {
      Matcher example = EXAMPLE.matcher(Files.readString(GUIDES.resolve(guide)));
      while (example.find()) {
        assertThat(code).contains(squeezed(example.group(1)));
        examples++;
      }
    }
    assertThat(examples).isEqualTo(7);
  }

  private static String squeezed(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }

  @Test
  void givenExamples_thenTheyDoWhatTheySay() throws Exception {
    DataSource dataSource = database.dataSource();
    SqlHelpers helpers = SqlHelpers.open(dataSource);
    Connection connection = begin();
    try (LockClient client = LockClient.connect("mem:")) {
      fence(client, connection, helpers);
      untilCommit(connection, helpers);
      once(connection, helpers);
      inOrder(client, dataSource, helpers);
      inConnection(dataSource);
    }
    helpers.close();
  }

  private void fence(LockClient client, Connection connection, SqlHelpers helpers)
      throws Exception {
    try (Lease lease = client.lock("account/42").acquire()) {
      boolean found =
          FencedUpdate.of("account")
              .set("balance", 90)
              .where("id", 42)
              .execute(connection, lease); // StaleTokenException: a later holder was here
      assertThat(found).isTrue();
      connection.commit();

      connection.setAutoCommit(false);
      helpers.fence().enter(connection, lease);
      long balance = readBalance(connection);
      writeBalance(connection, balance - 10);
      connection.commit();
      assertThat(committedBalance()).isEqualTo(80);
    }
  }

  private void untilCommit(Connection connection, SqlHelpers helpers) throws Exception {
    connection.setAutoCommit(false);
    TransactionLock lock = helpers.transactionLocks().lock(connection, "account/42");
    writeBalance(connection, readBalance(connection) - 10);
    connection.commit();
    assertThat(lock.name()).isEqualTo("account/42");
    assertThat(committedBalance()).isEqualTo(70);
  }

  private void once(Connection connection, SqlHelpers helpers) throws Exception {
    connection.setAutoCommit(false);
    KeptResult paid =
        helpers
            .once()
            .keepFor(Duration.ofDays(30))
            .run(
                connection,
                "pay/order-7",
                () -> {
                  writeBalance(connection, readBalance(connection) - 10);
                  return receipt();
                });
    connection.commit();
    assertThat(paid.ranHere()).isTrue();
    assertThat(committedBalance()).isEqualTo(60);
  }

  private void inOrder(LockClient client, DataSource dataSource, SqlHelpers helpers)
      throws Exception {
    long before = committedBalance();
    try (Lease lease = client.lock("account/42").acquireWithin(Duration.ofSeconds(5));
        Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      helpers.fence().enter(connection, lease);
      writeBalance(connection, readBalance(connection) - 10);
      connection.commit();
    }
    assertThat(committedBalance()).isEqualTo(before - 10);
  }

  private void inConnection(DataSource dataSource) throws Exception {
    if (kind == TestDatabase.Kind.H2) {
      return; // It has no such locks.
    }
    SessionLocks locks = SessionLocks.over(dataSource); // once per process, closed at its end
    Optional<SessionLease> granted = locks.tryAcquire("nightly", Duration.ofSeconds(5));
    if (granted.isPresent()) {
      try (SessionLease lease = granted.get()) {
        lease.onLost(loss -> stop());
        buildReport();
      }
    }
    locks.close();
    assertThat(reports).isEqualTo(1);
  }
}
