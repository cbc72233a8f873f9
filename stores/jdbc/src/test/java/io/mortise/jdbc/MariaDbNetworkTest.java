package io.mortise.jdbc;

import io.mortise.testkit.contract.client.NetworkContract;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave. */
@Tag("extended")
class MariaDbNetworkTest extends NetworkContract {
  MariaDbNetworkTest() {
    super(MySqlServers.MARIADB::url, "max-in-flight", Duration.ofSeconds(4));
  }

  /** After 15 s a connection is asked, or replaced. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(16);
  }
}
