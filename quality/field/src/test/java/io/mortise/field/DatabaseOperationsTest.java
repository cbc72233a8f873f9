package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Databases with unusual settings, or under maintenance. */
@Tag("long")
class DatabaseOperationsTest {
  /** Longer than a try may take. */
  private static final Duration WORK = Duration.ofSeconds(6);

  @ParameterizedTest
  @CsvSource({
    "MYSQL, --skip-character-set-client-handshake --character-set-server=latin1",
    "MARIADB, --skip-character-set-client-handshake --character-set-server=latin1",
    "MYSQL, --max-prepared-stmt-count=0",
    "MARIADB, --max-prepared-stmt-count=0",
    "MARIADB, --lower-case-table-names=1",
    "POSTGRESQL, -c default_transaction_isolation=serializable",
    "POSTGRESQL, -c default_transaction_deferrable=on",
    "POSTGRESQL, -c timezone=Asia/Kathmandu",
    "POSTGRESQL, -c idle_in_transaction_session_timeout=50ms",
  })
  @Report({
    "kagkarlsson/db-scheduler#295",
    "PyMySQL/mysqlclient#422",
    "freescout-help-desk/freescout#2781",
    "quartz-scheduler/quartz#590"
  })
  void givenServerWithOtherDefaults_thenLocksAreHandedOver(FieldStore store, String options)
      throws Exception {
    try (LocalServer server = store.start(options.split(" "))) {
      String url = store.newUrl(server);
      try (LockClient one = Trial.client(url);
          LockClient other = Trial.client(url)) {
        Trial.assertHandedOver(one, other, "Rechnung/Größe/雪");
        IntStream.range(0, 20)
            .mapToObj(i -> (i % 2 == 0 ? one : other).lock("crowd").acquireAsync(Trial.LONG))
            .map(wait -> wait.thenCompose(Lease::releaseAsync))
            .toList()
            .forEach(BoundedWait::join);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  @Report({"alestic/ec2-consistent-snapshot#23", "mydumper/mydumper#1918"})
  void givenBackupThatStopsAllWrites_thenWaitsGoOn_andEndSoonAfterIt(FieldStore store)
      throws Exception {
    LocalServer server = store.shared();
    String admin =
        server instanceof MySqlServer mysql
            ? mysql.adminUrl()
            : ((MariaDbServer) server).adminUrl();
    assertWaitsGoOn(
        store.newUrl(), admin, List.of("FLUSH TABLES WITH READ LOCK"), List.of("UNLOCK TABLES"));
  }

  @ParameterizedTest
  @EnumSource(names = "POSTGRESQL")
  @Report({"irrdnet/irrd#369", "citusdata/citus#2670"})
  void givenTableThatIsRebuilt_thenWaitsGoOn_andEndSoonAfterIt(FieldStore store) throws Exception {
    String url = store.newUrl();
    Trial.assertHandedOver(url);
    assertWaitsGoOn(
        url,
        store.shared().url(),
        List.of("BEGIN", "LOCK TABLE mortise_lock IN ACCESS EXCLUSIVE MODE"),
        List.of("ROLLBACK"));
  }

  private static void assertWaitsGoOn(
      String url, String admin, List<String> begin, List<String> end) throws Exception {
    try (LockClient one = Trial.client(url);
        LockClient other = Trial.client(url);
        Connection connection = DriverManager.getConnection(admin)) {
      Lease lease = one.lock("x").acquireWithin(Trial.LONG);
      CompletableFuture<Lease> next = other.lock("x").acquireAsync();
      CompletableFuture<Lease> free = other.lock("free").acquireAsync();
      BoundedWait.join(free).close();
      Trial.execute(connection, begin.toArray(String[]::new));
      CompletableFuture<Lease> late = other.lock("late").acquireAsync();
      CompletableFuture<Void> released = lease.releaseAsync();
      BoundedWait.pass(WORK);
      assertThat(next).isNotCompletedExceptionally();
      assertThat(late).isNotCompletedExceptionally();
      Trial.execute(connection, end.toArray(String[]::new));
      BoundedWait.join(released);
      BoundedWait.join(next).close();
      BoundedWait.join(late).close();
    }
  }
}
