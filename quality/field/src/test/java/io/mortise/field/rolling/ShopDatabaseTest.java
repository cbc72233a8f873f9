package io.mortise.field.rolling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.mortise.field.rolling.ShopDatabase.FencedWrite;
import io.mortise.field.rolling.ShopDatabase.WorkInterval;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The triggers record orders and leaders. */
@Tag("extended")
class ShopDatabaseTest {
  private static final String WAITING =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

  private static ShopDatabase start() throws Exception {
    return new ShopDatabase(
        TestPrerequisites.required(PostgresServer.installed(), "PostgreSQL"),
        new Checkout(Path.of("../..")).schema());
  }

  private static Connection connect(ShopDatabase shop, String instance) throws SQLException {
    return DriverManager.getConnection(shop.url() + "&ApplicationName=" + instance);
  }

  private static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static long number(Connection connection, String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void update(Connection connection, String row, long token) {
    execute(
        connection,
        "UPDATE %s SET fence_token = %d WHERE id = 1 AND fence_token <= %d"
            .formatted(row, token, token));
  }

  private static void buy(Connection connection, String instance) throws SQLException {
    execute(
        connection,
        "INSERT INTO purchase (product, quantity, instance) VALUES (1, 1, '" + instance + "')");
    connection.commit();
  }

  @Test
  void givenOrderThatWaitsForTheRow_thenItOverlapsTheOneThatHasIt_andTheNextDoesNot()
      throws Exception {
    try (ShopDatabase shop = start();
        Connection one = connect(shop, "host1a");
        Connection other = connect(shop, "host2a");
        Connection watch = connect(shop, "watch")) {
      one.setAutoCommit(false);
      other.setAutoCommit(false);
      update(one, "product", 7);
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(
              () -> update(other, "product", 8), task -> new Thread(task).start());
      BoundedWait.until(BoundedWait.ANSWER, "the other waits", () -> number(watch, WAITING) == 1);
      // Lets times in milliseconds differ.
      Thread.sleep(20);
      buy(one, "host1a");
      BoundedWait.join(waiting);
      buy(other, "host2a");
      Thread.sleep(20);
      update(one, "product", 9);
      buy(one, "host1a");
      List<WorkInterval> orders = shop.orders(1);
      assertThat(orders)
          .extracting(WorkInterval::who)
          .containsExactly("host1a", "host2a", "host1a");
      assertThat(orders.get(1).from()).isBetween(orders.get(0).from(), orders.get(0).until() - 1);
      assertThat(orders.get(2).from()).isGreaterThan(orders.get(1).until());
      assertThat(shop.orders(2)).isEmpty();
    }
  }

  @Test
  void givenDeliveriesAndReports_thenTheirTimesAreReadToo_alsoOfWorkWithoutAnEnd()
      throws Exception {
    try (ShopDatabase shop = start();
        Connection one = connect(shop, "host1a")) {
      one.setAutoCommit(false);
      buy(one, "host1a");
      buy(one, "host1a");
      one.setAutoCommit(true);
      execute(one, "INSERT INTO delivery SELECT id, now() FROM purchase");
      execute(one, "UPDATE delivery SET ended = now() WHERE purchase = 1");
      execute(one, "INSERT INTO report (token, tick, instance) VALUES (7, 3, 'host1a')");
      execute(one, "INSERT INTO report (token, tick, instance) VALUES (8, 4, 'host1a')");
      execute(one, "UPDATE report SET orders = 2 WHERE token = 7");
      assertThat(shop.deliveries())
          .extracting(WorkInterval::who, WorkInterval::token, work -> work.until() > 0)
          .containsExactlyInAnyOrder(tuple("host1a", 1L, true), tuple("host1a", 2L, false));
      assertThat(shop.reports())
          .extracting(WorkInterval::tick, WorkInterval::token, work -> work.until() > 0)
          .containsExactlyInAnyOrder(tuple(3L, 7L, true), tuple(4L, 8L, false));
      assertThat(shop.stock().get(0).sold()).isEqualTo(2);
      assertThat(shop.stock().get(1).sold()).isZero();
    }
  }

  @Test
  void givenLeaderWithAnEarlierToken_thenItsWriteIsRecordedAsRefused() throws Exception {
    try (ShopDatabase shop = start();
        Connection one = connect(shop, "host1a");
        Connection other = connect(shop, "host2a")) {
      update(one, "summary", 7);
      update(other, "summary", 8);
      assertThat(shop.writes("summary/refused")).isEmpty();
      update(one, "summary", 7);
      assertThat(shop.writes("summary/1"))
          .extracting(FencedWrite::who, FencedWrite::token)
          .containsExactly(tuple("host1a", 7L), tuple("host2a", 8L));
      assertThat(shop.writes("summary/refused"))
          .extracting(FencedWrite::who)
          .containsExactly("host1a");
    }
  }
}
