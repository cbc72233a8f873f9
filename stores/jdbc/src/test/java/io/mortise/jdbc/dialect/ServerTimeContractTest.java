package io.mortise.jdbc.dialect;

import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.PostgresServers;
import io.mortise.spi.LockStore;
import io.mortise.testkit.contract.store.StoreClockContract;
import io.mortise.testserver.PostgresServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** On PostgreSQL; the other dialects ask their server in the same statements. */
class ServerTimeContractTest extends StoreClockContract {
  private static PostgresServer server;

  @BeforeAll
  static void start() {
    server = PostgresServers.V18.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected LockStore open() {
    return openBehind(port());
  }

  @Override
  protected int port() {
    return server.port();
  }

  @Override
  protected LockStore openBehind(int port) {
    return JdbcStore.open(server.url().replace(":" + server.port(), ":" + port));
  }
}
