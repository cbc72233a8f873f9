package io.mortise.zookeeper.internal;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers that a client tries one after the other, with a bound for each attempt: ZooKeeper's
 * client divides the session timeout by the {@link #size} of its list. Otherwise a connection that
 * was accepted and is never answered could cost a client with only one server the whole session. A
 * standalone server causes that for clients that connect while it starts (ZOOKEEPER-5051).
 */
final class BoundedHostProvider implements HostProvider {
  private static final Duration SHORTEST = Duration.ofSeconds(1);

  private final HostProvider servers;
  private final int size;

  /**
   * For one client.
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
