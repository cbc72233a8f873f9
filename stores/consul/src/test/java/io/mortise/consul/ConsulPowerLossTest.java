package io.mortise.consul;

import io.mortise.testkit.contract.document.ForcedWritesContract;
import io.mortise.testserver.ConsulServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("extended")
class ConsulPowerLossTest extends ForcedWritesContract {
  @Override
  protected ConsulServer start(Path data) {
    return ConsulServers.start("--data-dir", data.toString());
  }
}
