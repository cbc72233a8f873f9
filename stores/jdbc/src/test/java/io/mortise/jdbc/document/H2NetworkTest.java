package io.mortise.jdbc.document;

import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.LocalServer;
import io.mortise.testserver.H2Server;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave. */
@Tag("product")
class H2NetworkTest extends NetworkContract {
  H2NetworkTest() {
    super(() -> DocumentServers.H2.shared().url(), "timeout", Duration.ofSeconds(4));
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(H2Server.start());
  }

  /** After 15 s a connection is asked. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(16);
  }
}
