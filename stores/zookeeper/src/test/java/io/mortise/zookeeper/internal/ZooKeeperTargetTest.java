package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.StoreUrl;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.client.ConnectStringParser;
import org.junit.jupiter.api.Test;

class ZooKeeperTargetTest {
  @Test
  void givenAddressesOfIpv6_alsoWithAZone_thenTheClientTakesThem() {
    StoreUrl url = StoreUrl.parse("zk://[::1]:2181,[fe80::1%eth0]:2182,[fe80::2%3]/locks");
    ZooKeeperTarget target = ZooKeeperTarget.parse(url, Set.of());
    List<InetSocketAddress> servers = new ConnectStringParser(target.hosts()).getServerAddresses();
    assertThat(servers)
        .extracting(InetSocketAddress::getHostString, InetSocketAddress::getPort)
        .hasToString("[(\"::1\", 2181), (\"fe80::1%eth0\", 2182), (\"fe80::2%3\", 2181)]");
  }
}
