package io.mortise.consul;

import io.mortise.testkit.contract.document.ClocklessClusterContract;
import io.mortise.testserver.ConsulServer;
import io.mortise.testserver.ConsulServer.ConsulCluster;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class ConsulClusterTest extends ClocklessClusterContract<ConsulServer> {
  @Override
  protected ConsulCluster start() {
    return ConsulCluster.start(ConsulServers.program());
  }
}
