package io.mortise.zookeeper;

import java.io.IOException;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * Lets a standalone server accept connections once it can serve them. It may forget those that come
 * while it starts without closing them, and their clients then wait for as long as their session
 * lives (ZOOKEEPER-5051). Ours do not, but Curator's and the tests' own do.
 */
public final class LateServerFactory extends NIOServerCnxnFactory {
  @Override
  public void startup(ZooKeeperServer server, boolean startServer)
      throws IOException, InterruptedException {
    setZooKeeperServer(server);
    if (startServer) {
      server.startdata();
      server.startup();
    }
    start();
  }
}
