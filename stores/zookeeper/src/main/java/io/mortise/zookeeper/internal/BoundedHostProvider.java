package io.mortise.zookeeper.internal;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers that a client tries, one after the other, and how long a try may take: ZooKeeper's
 * client divides the session timeout by the {@link #size} of what it is given. Else a connection
 * that was taken and is never answered would cost one who knows but one server the whole session: a
 * server that is alone does that to those who come while it starts (ZOOKEEPER-5051).
 */
final class BoundedHostProvider implements HostProvider {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  private final HostProvider servers;
  private final int size;

  /**
   * One client's.
   *
   * @param timeout how long an answer may take
   */
  BoundedHostProvider(String hosts, int sessionMillis, Duration timeout) {
    this.servers = new StaticHostProvider(new ConnectStringParser(hosts).getServerAddresses());
    long millis = Math.max(timeout.toMillis(), SHORTEST.toMillis());
    this.size = Math.max(servers.size(), Math.toIntExact(sessionMillis / millis));
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public InetSocketAddress next(long spinDelay) {
    return servers.next(spinDelay);
  }

  @Override
  public void onConnected() {
    servers.onConnected();
  }

  @Override
  public boolean updateServerList(
      Collection<InetSocketAddress> addresses, InetSocketAddress current) {
    return servers.updateServerList(addresses, current);
  }
}
