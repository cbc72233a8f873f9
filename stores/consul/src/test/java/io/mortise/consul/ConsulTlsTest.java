package io.mortise.consul;

import io.mortise.testkit.contract.document.TlsContract;
import io.mortise.testserver.ConsulServer;
import java.nio.file.Path;

class ConsulTlsTest extends TlsContract<ConsulServer> {
  @Override
  protected ConsulServer start(Path certificate, Path key) {
    return ConsulServer.startWithTls(ConsulServers.program(), certificate, key);
  }

  @Override
  protected int tlsPort(ConsulServer server) {
    return server.tlsPort();
  }

  @Override
  protected String product() {
    return "Consul";
  }
}
