package io.mortise.zookeeper;

import io.mortise.testkit.contract.client.NetworkContract;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The store over faulty networks. */
@Tag("extended")
class ZooKeeperNetworkTest extends NetworkContract {
  ZooKeeperNetworkTest() {
    super(() -> TestServer.shared().url() + "?namespace=network", "timeout", Duration.ofSeconds(1));
  }

  /** A silent connection is dropped after two thirds of the TTL. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(20);
  }
}
