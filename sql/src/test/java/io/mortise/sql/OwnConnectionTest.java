package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.time.Ticker;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class OwnConnectionTest extends HelperTest {
  OwnConnectionTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @Test
  void givenStatementThatIsNotAnswered_thenItIsNotTriedAgain_andTheNextGetsAnotherConnection()
      throws Exception {
    if (kind == TestDatabase.Kind.H2 || kind == TestDatabase.Kind.SQLITE) {
      return; // No network.
    }
    String sleep =
        kind == TestDatabase.Kind.POSTGRESQL ? "SELECT 1 FROM pg_sleep(60)" : "SELECT SLEEP(60)";
    AtomicInteger tries = new AtomicInteger();
    try (DedicatedConnection own =
        new DedicatedConnection(database.dataSource(), 2_000, Ticker.SYSTEM)) {
      own.run(HelperTest::balance);
      assertThatThrownBy(
              () ->
                  own.run(
                      connection -> {
                        tries.incrementAndGet();
                        number(connection, sleep);
                      }))
          .isInstanceOf(SQLException.class);
      assertThat(tries).hasValue(1);
      assertThat(own.<Long>call(HelperTest::balance)).isEqualTo(100);
      assertThat(database.handedOut()).hasSize(2);
    }
  }

  @Test
  void givenConnectionThatBroke_whenClosed_thenSilently() throws Exception {
    SqlHelpers helpers = SqlHelpers.open(database.dataSource());
    database.handedOut().get(0).close();
    assertThatCode(helpers::close).doesNotThrowAnyException();
  }

  /** As in a pool, which hands it to somebody else. */
  @Test
  void givenConnection_whenClosed_thenItIsGivenBackAsItWas() throws Exception {
    try (Connection connection = database.connect()) {
      int timeout = timeoutOf(connection);
      long seconds = lockSecondsOf(connection);
      connection.setAutoCommit(false);
      DedicatedConnection own = new DedicatedConnection(pooled(connection), Ticker.SYSTEM);
      own.run(HelperTest::balance);
      assertThat(connection.getAutoCommit()).isTrue();
      own.close();
      assertThat(connection.getAutoCommit()).isFalse();
      assertThat(timeoutOf(connection)).isEqualTo(timeout);
      assertThat(lockSecondsOf(connection)).isEqualTo(seconds);
    }
  }

  /** A pool of this one, which stays open when it is given back. */
  private static DataSource pooled(Connection connection) {
    ClassLoader loader = Connection.class.getClassLoader();
    Object unclosed =
        Proxy.newProxyInstance(
            loader,
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(connection, arguments));
    return (DataSource)
        Proxy.newProxyInstance(
            loader, new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> unclosed);
  }

  private int timeoutOf(Connection connection) throws SQLException {
    return HelperDialect.of(connection).isServer() ? connection.getNetworkTimeout() : 0;
  }

  private long lockSecondsOf(Connection connection) throws SQLException {
    return HelperDialect.of(connection).isMySqlLike()
        ? number(connection, "SELECT @@innodb_lock_wait_timeout")
        : 0;
  }
}
