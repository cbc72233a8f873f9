package io.mortise.field.rolling;

import io.mortise.testserver.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The database of the shop, exempt from faults. Triggers record accepted writes, in commit order
 * for each row. For one thread.
 */
final class ShopDatabase implements AutoCloseable {
  static final int PRODUCTS = 3;
  private static final int STOCK = 10_000_000;

  private static final String LOG =
      """
      CREATE TABLE seen (
        seq BIGSERIAL PRIMARY KEY,
        at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
        kind TEXT NOT NULL,
        token BIGINT NOT NULL,
        who TEXT NOT NULL DEFAULT current_setting('application_name'));
      CREATE FUNCTION see() RETURNS trigger AS $$
        BEGIN
          IF TG_TABLE_NAME = 'report' THEN
            INSERT INTO seen (kind, token) VALUES (TG_OP, NEW.token);
          ELSE
            INSERT INTO seen (kind, token) VALUES (TG_TABLE_NAME || '/' || NEW.id, NEW.fence_token);
          END IF;
          RETURN NULL;
        END $$ LANGUAGE plpgsql;
      CREATE FUNCTION see_refused() RETURNS trigger AS $$
        BEGIN
          IF NOT EXISTS (SELECT 1 FROM written) THEN
            INSERT INTO seen (kind, token) VALUES (TG_TABLE_NAME || '/refused', 0);
          END IF;
          RETURN NULL;
        END $$ LANGUAGE plpgsql;
      CREATE FUNCTION see_order() RETURNS trigger AS $$
        DECLARE
          arrived TEXT := nullif(current_setting('seen.began', true), '');
        BEGIN
          IF TG_TABLE_NAME = 'product' THEN
            PERFORM set_config('seen.began', coalesce(arrived, clock_timestamp()::text), true);
            RETURN NULL;
          END IF;
          NEW.began := arrived;
          NEW.ended := clock_timestamp();
          RETURN NEW;
        END $$ LANGUAGE plpgsql;
      ALTER TABLE purchase ADD COLUMN began TIMESTAMPTZ, ADD COLUMN ended TIMESTAMPTZ;
      CREATE TRIGGER begins BEFORE UPDATE ON product FOR EACH STATEMENT EXECUTE FUNCTION see_order();
      CREATE TRIGGER ends BEFORE INSERT ON purchase FOR EACH ROW EXECUTE FUNCTION see_order();
      CREATE TRIGGER refused AFTER UPDATE ON summary REFERENCING NEW TABLE AS written
        FOR EACH STATEMENT EXECUTE FUNCTION see_refused();
      CREATE TRIGGER seen AFTER UPDATE ON product FOR EACH ROW EXECUTE FUNCTION see();
      CREATE TRIGGER seen AFTER UPDATE ON summary FOR EACH ROW EXECUTE FUNCTION see();
      CREATE TRIGGER seen AFTER INSERT OR UPDATE ON report FOR EACH ROW EXECUTE FUNCTION see();
      """;

  /** Times are milliseconds since 1970, by the clock that all processes share. */
  private static final String MILLIS = "(extract(epoch FROM %s) * 1000)::bigint";

  private final PostgresServer server;

  /**
   * Starts the database.
   *
   * @param schema of the shop
   */
  ShopDatabase(Path programs, Path schema) throws IOException {
    // A frozen instance would keep the row of its order for longer than its lock.
    server =
        PostgresServer.start(
            programs, "-c", "max_connections=200", "-c", "idle_in_transaction_session_timeout=2s");
    execute(Files.readString(schema));
    execute("INSERT INTO product (id, in_stock) VALUES (3, 0)");
    execute("UPDATE product SET in_stock = " + STOCK);
    execute(LOG.replaceAll("(?m)^ *", " ").replace('\n', ' '));
  }

  int port() {
    return server.port();
  }

  /** Properties by which an instance connects to it, and soon detects broken connections. */
  List<String> properties(String instance) {
    return List.of(
        "spring.datasource.url=jdbc:postgresql://localhost:"
            + port()
            + "/postgres?connectTimeout=3&socketTimeout=3&ApplicationName="
            + instance,
        "spring.datasource.hikari.validation-timeout=500",
        "spring.datasource.hikari.maximum-pool-size=6",
        "spring.datasource.username=" + PostgresServer.USER,
        "spring.datasource.password=" + PostgresServer.PASSWORD);
  }

  String url() {
    return server.url().replace("127.0.0.1", "localhost");
  }

  private void execute(String sql) {
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private <T> List<T> rows(String sql, RowReader<T> reader) {
    List<T> found = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        found.add(reader.read(rows));
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String millis(String time) {
    return MILLIS.formatted(time);
  }

  /** A write of a row that rejects stale tokens: its time, token and instance. */
  record FencedWrite(long at, long token, String who) {}

  /**
   * Writes of one row, {@code product/1} or {@code summary/1}, in order; or {@code
   * summary/refused}, without tokens.
   */
  List<FencedWrite> writes(String row) {
    return rows(
        "SELECT %s, token, who FROM seen WHERE kind = '%s' ORDER BY seq"
            .formatted(millis("at"), row),
        each -> new FencedWrite(each.getLong(1), each.getLong(2), each.getString(3)));
  }

  /** The sales of a product, according to its orders and to its stock. */
  record SoldProduct(long product, long sold, long taken) {}

  List<SoldProduct> stock() {
    return rows(
        "SELECT id, (SELECT coalesce(sum(quantity), 0) FROM purchase WHERE product = p.id), "
            + STOCK
            + " - in_stock FROM product p ORDER BY id",
        each -> new SoldProduct(each.getLong(1), each.getLong(2), each.getLong(3)));
  }

  /**
   * The time of an instance's work under a lock.
   *
   * @param until 0 if it did not end
   */
  record WorkInterval(String who, long tick, long token, long from, long until) {}

  /**
   * Orders of a product that were committed, by their begin: from the arrival of the first
   * statement, which then waits for the row, to that of the last.
   */
  List<WorkInterval> orders(int product) {
    return work(
        "SELECT instance, 0, id, %s, %s FROM purchase WHERE product = %d ORDER BY 4"
            .formatted(millis("began"), millis("ended"), product));
  }

  /** Calls of the partner, by their begin. */
  List<WorkInterval> deliveries() {
    return work(
        "SELECT p.instance, 0, d.purchase, %s, coalesce(%s, 0) FROM delivery d JOIN purchase p"
                .formatted(millis("d.began"), millis("d.ended"))
            + " ON p.id = d.purchase ORDER BY 4");
  }

  /** Reports, by their begin. */
  List<WorkInterval> reports() {
    return work(
        "SELECT r.instance, r.tick, r.token, %s, coalesce(%s, 0) FROM report r"
                .formatted(millis("b.at"), millis("e.at"))
            + " JOIN seen b ON b.kind = 'INSERT' AND b.token = r.token"
            + " LEFT JOIN seen e ON e.kind = 'UPDATE' AND e.token = r.token ORDER BY 4");
  }

  private List<WorkInterval> work(String sql) {
    return rows(
        sql,
        each ->
            new WorkInterval(
                each.getString(1),
                each.getLong(2),
                each.getLong(3),
                each.getLong(4),
                each.getLong(5)));
  }

  @Override
  public void close() {
    server.close();
  }
}
