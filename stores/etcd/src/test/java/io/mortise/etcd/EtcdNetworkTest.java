package io.mortise.etcd;

import io.mortise.testkit.contract.client.NetworkContract;
import io.mortise.testkit.server.LocalServer;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave, or lead to different clusters. */
@Tag("extended")
class EtcdNetworkTest extends NetworkContract {
  EtcdNetworkTest() {
    super(
        () -> EtcdServers.shared().url() + "?namespace=network", "timeout", Duration.ofSeconds(1));
  }

  /** After 2 s a connection is not used again. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(3);
  }

  @Override
  protected Optional<LocalServer> another() {
    return Optional.of(EtcdServers.start());
  }
}
