package io.mortise.bench;

import io.mortise.bench.subject.StoreUrls;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Counters of a ZooKeeper server, which must allow the four-letter word {@code mntr}. */
final class ZooKeeperServerStats {
  private final String host;
  private final int port;

  ZooKeeperServerStats(StoreUrls storeUrls) {
    String first = storeUrls.zooKeeperServers().split(",", 2)[0];
    int colon = first.lastIndexOf(':');
    host = first.substring(0, colon);
    port = Integer.parseInt(first.substring(colon + 1));
  }

  /** How many ephemeral nodes there are. */
  long ephemerals() throws IOException {
    return field("zk_ephemerals_count");
  }

  private long field(String name) throws IOException {
    try (Socket socket = new Socket(host, port)) {
      socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(name + "\t"))
          .mapToLong(line -> (long) Double.parseDouble(line.substring(name.length() + 1)))
          .findFirst()
          .orElseThrow(() -> new IOException("The server's answer to mntr has no " + name + "."));
    }
  }
}
