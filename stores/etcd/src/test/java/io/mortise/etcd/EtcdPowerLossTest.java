package io.mortise.etcd;

import io.mortise.testkit.contract.document.ForcedWritesContract;
import io.mortise.testserver.EtcdServer;
import java.nio.file.Path;

class EtcdPowerLossTest extends ForcedWritesContract {
  @Override
  protected EtcdServer start(Path data) {
    return EtcdServers.start("--data-dir", data.toString());
  }
}
