package io.mortise.etcd;

import io.mortise.testkit.contract.document.TlsContract;
import io.mortise.testserver.EtcdServer;
import java.nio.file.Path;

class EtcdTlsTest extends TlsContract<EtcdServer> {
  @Override
  protected EtcdServer start(Path certificate, Path key) {
    return EtcdServer.startWithTls(EtcdServers.program(), certificate, key);
  }

  @Override
  protected int tlsPort(EtcdServer server) {
    return server.tlsPort();
  }

  @Override
  protected String product() {
    return "etcd";
  }
}
