package io.mortise.dynamodb;

import io.mortise.testkit.contract.document.TlsContract;
import io.mortise.testserver.DynaliteServer;
import java.nio.file.Path;

class DynamoDbTlsTest extends TlsContract<DynaliteServer> {
  @Override
  protected DynaliteServer start(Path certificate, Path key) {
    return Dynalites.withTable(DynaliteServer.startWithTls(Dynalites.program(), certificate, key));
  }

  @Override
  protected int tlsPort(DynaliteServer server) {
    return server.tlsPort();
  }

  @Override
  protected String product() {
    return "DynamoDB";
  }
}
