package io.mortise.jdbc.document;

import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave. */
@Tag("extended")
class DerbyNetworkTest extends NetworkContract {
  DerbyNetworkTest() {
    super(() -> DocumentServers.DERBY.shared().url(), "timeout", Duration.ofSeconds(4));
  }

  /** Derby's driver sends the commit behind the statement. */
  @Override
  protected boolean endsHalfRequests() {
    return false;
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(DerbyServer.start());
  }

  /** After 15 s a connection is asked. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(16);
  }
}
