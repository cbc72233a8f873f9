package io.mortise.jdbc;

import io.mortise.jdbc.table.ConnectionLockProbe;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.testkit.StoreUnderTest;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** A namespace of its own for each test. */
final class MySqlUnderTest implements StoreUnderTest {
  private final MySqlServers server;
  private String namespace;
  private LockStore restarted;

  MySqlUnderTest(MySqlServers server) {
    this.server = server;
  }

  @Override
  public LockStore open() {
    namespace = MySqlServers.namespace();
    return reopen();
  }

  private LockStore reopen() {
    // The server ends a transaction that says nothing for two fifths of it, as on a busy machine.
    return JdbcStore.open(server.url() + "&max-in-flight=20s&namespace=" + namespace);
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
    ConnectionLockProbe.await(server.url(), session, there);
  }

  @Override
  public Optional<LockStore> restart(LockStore before) {
    before.close();
    server.restart();
    restarted = reopen();
    return Optional.of(restarted);
  }

  @Override
  public Optional<Runnable> forbidWrites() {
    server.admin("SET GLOBAL read_only = ON");
    return Optional.of(() -> server.admin("SET GLOBAL read_only = OFF"));
  }

  @Override
  public void close() {
    if (restarted != null) {
      restarted.close();
    }
  }
}
