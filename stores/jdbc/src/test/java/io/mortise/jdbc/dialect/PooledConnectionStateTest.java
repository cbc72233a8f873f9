package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.jdbc.DatabaseProduct;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.table.ConnectionState;
import io.mortise.spi.LockStore;
import io.mortise.testkit.server.LocalServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pool that sets nothing back by itself gets its connections as it gave them. */
class PooledConnectionStateTest {
  private static final ConnectionState AS_GIVEN =
      new ConnectionState(false, true, Connection.TRANSACTION_SERIALIZABLE, 70_000);

  @ParameterizedTest
  @EnumSource
  void givenPoolThatResetsNothing_whenTheStoreIsClosed_thenItsConnectionsAreAsBefore(
      DatabaseProduct databaseProduct) throws Exception {
    try (LocalServer server = databaseProduct.start();
        Pool pool = new Pool(databaseProduct.source(server.url()))) {
      try (LockStore store = JdbcStore.over(pool.source(), "");
          LockClient locks = LockClient.builder().store(store).build()) {
        Lease held = locks.lock("a").acquire();
        var waits = locks.lock("a").acquireAsync(Duration.ofSeconds(30));
        held.close();
        waits.get().close();
        // The third one listens.
        int taken = databaseProduct == DatabaseProduct.POSTGRESQL ? 3 : 2;
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> pool.size() >= taken);
      }
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(pool::hasAll);
      assertThat(pool.all).isNotEmpty();
      for (Connection connection : pool.all) {
        assertThat(connection.isClosed()).as("pools warn of that").isFalse();
        ConnectionState now = ConnectionState.of(connection);
        assertThat(now.autoCommit()).isEqualTo(AS_GIVEN.autoCommit());
        assertThat(now.readOnly()).isEqualTo(AS_GIVEN.readOnly());
        assertThat(now.isolation()).isEqualTo(AS_GIVEN.isolation());
        assertThat(now.networkTimeout()).isEqualTo(AS_GIVEN.networkTimeout());
      }
    }
  }

  private static final class Pool implements AutoCloseable {
    final List<Connection> all = new ArrayList<>();
    private final Deque<Connection> idle = new ArrayDeque<>();
    private final DataSource from;

    Pool(DataSource from) {
      this.from = from;
    }

    DataSource source() {
      return proxy(DataSource.class, (proxy, method, arguments) -> lend());
    }

    private synchronized Connection lend() throws SQLException {
      Connection lent = idle.poll();
      if (lent == null) {
        lent = from.getConnection();
        lent.setTransactionIsolation(AS_GIVEN.isolation());
        lent.setReadOnly(AS_GIVEN.readOnly());
        lent.setNetworkTimeout(Runnable::run, AS_GIVEN.networkTimeout());
        lent.setAutoCommit(AS_GIVEN.autoCommit());
        all.add(lent);
      }
      Connection real = lent;
      boolean[] closed = {false};
      return proxy(
          Connection.class, (proxy, method, arguments) -> call(real, closed, method, arguments));
    }

    private Object call(Connection real, boolean[] closed, Method method, Object[] arguments)
        throws Throwable {
      if (method.getName().equals("close")) {
        take(real, closed);
        return null;
      }
      if (method.getName().equals("isClosed") && closed[0]) {
        return true;
      }
      try {
        return method.invoke(real, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }

    private synchronized void take(Connection real, boolean[] closed) {
      if (!closed[0]) {
        closed[0] = true;
        idle.add(real);
      }
    }

    synchronized int size() {
      return all.size();
    }

    synchronized boolean hasAll() {
      return idle.size() == all.size();
    }

    private static <T> T proxy(Class<T> type, java.lang.reflect.InvocationHandler handler) {
      return type.cast(
          Proxy.newProxyInstance(
              PooledConnectionStateTest.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public void close() throws SQLException {
      for (Connection connection : all) {
        connection.close();
      }
    }
  }
}
