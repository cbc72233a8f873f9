package io.mortise.jdbc;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.h2.tools.Server;

/** A database of its own for each test. */
final class H2UnderTest implements StoreUnderTest {
  private final Kind kind;
  private Path directory;
  private Server server;

  H2UnderTest(Kind kind) {
    this.kind = kind;
  }

  enum Kind {
    MEM,
    FILE,
    TCP
  }

  @Override
  public LockStore open() {
    directory = kind == Kind.MEM ? null : TempDirectory.create();
    if (kind == Kind.TCP) {
      server = start(Integer.toString(RedisServer.freePort()));
    }
    return reopen();
  }

  private Server start(String port) {
    try {
      return Server.createTcpServer(
              "-tcpPort", port, "-tcpDaemon", "-ifNotExists", "-baseDir", directory.toString())
          .start();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private LockStore reopen() {
    return JdbcStore.open(
        switch (kind) {
          case MEM -> "jdbc:h2:mem:locks" + UUID.randomUUID();
          case FILE -> "jdbc:h2:file:" + directory.resolve("locks");
          case TCP -> "jdbc:h2:tcp://localhost:" + server.getPort() + "/./locks";
        });
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED, Capability.CALL_BACK));
  }

  @Override
  public Optional<LockStore> restart(LockStore store) {
    if (kind == Kind.MEM) {
      return Optional.empty();
    }
    store.close();
    if (kind == Kind.TCP) {
      int port = server.getPort();
      server.stop();
      server = start(Integer.toString(port));
    }
    return Optional.of(reopen());
  }

  @Override
  public void close() {
    if (server != null) {
      server.stop();
    }
    TempDirectory.delete(directory);
  }
}
