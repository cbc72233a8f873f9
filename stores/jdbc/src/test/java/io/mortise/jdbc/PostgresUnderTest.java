package io.mortise.jdbc;

import io.mortise.jdbc.table.ConnectionLockProbe;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** One server of each version serves all tests of the JVM; each has a namespace of its own. */
final class PostgresUnderTest implements StoreUnderTest {
  private final PostgresServers version;
  private String namespace;

  PostgresUnderTest(PostgresServers version) {
    this.version = version;
  }

  private PostgresServer server() {
    return version.shared();
  }

  @Override
  public LockStore open() {
    namespace = PostgresServers.namespace();
    return reopen();
  }

  private LockStore reopen() {
    // The server ends a transaction that says nothing for a quarter of it, as on a busy machine.
    return JdbcStore.open(server().url() + "&max-in-flight=20s&namespace=" + namespace);
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.allOf(Capability.class);
  }

  @Override
  public LockStore another() {
    return reopen();
  }

  @Override
  public void awaitConnection(SessionId session, boolean there) {
    ConnectionLockProbe.await(server().url(), session, there);
  }

  @Override
  public Optional<LockStore> restart(LockStore store) {
    store.close();
    server().restart();
    return Optional.of(reopen());
  }

  @Override
  public Optional<Runnable> forbidWrites() {
    readOnly("on");
    return Optional.of(() -> readOnly("off"));
  }

  /**
   * Once a new connection has it, all have: the server tells those that are there before it takes
   * the next.
   */
  private void readOnly(String value) {
    admin("ALTER SYSTEM SET default_transaction_read_only = " + value);
    admin("SELECT pg_reload_conf()");
    BoundedWait.until(
        Duration.ofSeconds(30),
        "the server has read its settings",
        () -> admin("SHOW default_transaction_read_only").equals(value));
  }

  private String admin(String command) {
    try (Connection connection = DriverManager.getConnection(server().url());
        Statement statement = connection.createStatement()) {
      if (!statement.execute(command)) {
        return "";
      }
      try (ResultSet answer = statement.getResultSet()) {
        answer.next();
        return answer.getString(1);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }
}
