package io.mortise.jdbc.document;

import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave. */
@Tag("product")
class FirebirdNetworkTest extends NetworkContract {
  FirebirdNetworkTest() {
    super(() -> DocumentServers.FIREBIRD.shared().url(), "timeout", Duration.ofSeconds(4));
  }

  /** A commit follows the answer to its statement. */
  @Override
  protected boolean endsHalfRequests() {
    return false;
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(FirebirdServer.start());
  }

  /** After 15 s a connection is asked. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(16);
  }
}
