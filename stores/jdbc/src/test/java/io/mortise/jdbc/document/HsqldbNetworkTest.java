package io.mortise.jdbc.document;

import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.Optional;

/** The store over networks that misbehave. */
class HsqldbNetworkTest extends NetworkContract {
  HsqldbNetworkTest() {
    super(() -> DocumentServers.HSQLDB.shared().url(), "timeout", Duration.ofSeconds(4));
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(HsqldbServer.start());
  }

  /** After 15 s a connection is asked. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(16);
  }
}
