package io.mortise.jdbc;

import io.mortise.jdbc.table.ConnectionLockProbe;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.server.PostgresServer;
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
}
