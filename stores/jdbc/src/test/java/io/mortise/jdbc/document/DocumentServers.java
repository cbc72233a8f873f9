package io.mortise.jdbc.document;

import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testkit.server.ServerProcess;
import io.mortise.testserver.H2Server;
import java.io.IOException;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Databases without a dialect. One server of each serves all tests of the JVM. */
final class DocumentServers {
  static final DocumentServers DERBY = new DocumentServers(DerbyServer::start);
  static final DocumentServers HSQLDB = new DocumentServers(HsqldbServer::start);
  static final DocumentServers FIREBIRD = new DocumentServers(FirebirdServer::start);
  static final DocumentServers H2 = new DocumentServers(H2Server::start);

  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private final Supplier<LocalServer> start;
  private LocalServer server;

  private DocumentServers(Supplier<LocalServer> start) {
    this.start = start;
  }

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "document" + NAMESPACES.incrementAndGet();
  }

  /** Whether a server that was just started lets a client in. */
  static boolean answers(int port, String url) throws IOException {
    ServerProcess.connect(port).close();
    try {
      DriverManager.getConnection(url).close();
      return true;
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  synchronized LocalServer shared() {
    if (server == null) {
      server = start.get();
    }
    return server;
  }

  /** A store of it for the contract suites, with a namespace of its own. */
  StoreUnderTest underTest() {
    return new ClocklessStoreUnderTest(this::shared).withoutPush();
  }

  /** Opens the documents of a namespace. */
  static SqlDocuments open(String url, String namespace, Duration timeout) {
    return new DocumentDatabase(
            () -> DriverManager.getConnection(url),
            false,
            new DocumentDatabase.Settings(url, "mortise_", namespace, timeout, true),
            Ticker.SYSTEM,
            WallClock.SYSTEM)
        .prepare("test", 2);
  }
}
