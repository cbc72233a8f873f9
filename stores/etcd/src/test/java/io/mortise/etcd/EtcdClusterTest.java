package io.mortise.etcd;

import io.mortise.testkit.contract.document.ClocklessClusterContract;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.EtcdServer.EtcdCluster;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class EtcdClusterTest extends ClocklessClusterContract<EtcdServer> {
  @Override
  protected EtcdCluster start() {
    return EtcdCluster.start(EtcdServers.program());
  }
}
