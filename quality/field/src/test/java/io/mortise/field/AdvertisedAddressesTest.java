package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testserver.NatsServer;
import io.mortise.testserver.RedisServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Addresses that servers advertise, but that clients cannot reach. */
@Tag("extended")
class AdvertisedAddressesTest {

  private static boolean isServed(String url) {
    try (LockClient client = LockClient.connect(url)) {
      return Trial.isGranted(client, "other");
    } catch (LockException e) {
      return false;
    }
  }

  /** Each unreachable address costs the whole timeout. */
  @Test
  @Report({
    "nats-io/nats.go#1760",
    "nats-io/nats.rb#127",
    "nats-io/nats-architecture-and-design#113",
    "nats-io/nats-server#1359"
  })
  void givenClusterThatTellsSilentAddresses_whenAConnectionBreaks_thenThatOfTheUrlIsTakenAgain()
      throws Exception {
    List<Integer> routes =
        List.of(RedisServer.freePort(), RedisServer.freePort(), RedisServer.freePort());
    List<NatsServer> servers = new ArrayList<>();
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      for (int route : routes) {
        servers.add(
            (NatsServer)
                FieldStore.NATS.start(
                    "-n",
                    "n" + route,
                    "-cluster_name",
                    "c",
                    "-cluster",
                    "nats://127.0.0.1:" + route,
                    "-routes",
                    "nats://127.0.0.1:" + routes.get(0),
                    "-client_advertise",
                    "127.0.0.1:" + silent.getLocalPort()));
      }
      String direct = servers.get(0).url() + "?timeout=1s";
      BoundedWait.until(Trial.LONG, "JetStream had a leader", () -> isServed(direct));
      try (FaultInjectionProxy fair = FaultInjectionProxy.to(servers.get(0).port());
          LockClient client = LockClient.connect("nats://127.0.0.1:" + fair.port())) {
        client.lock("held").acquireWithin(Trial.LONG).close();
        fair.reset();
        BoundedWait.until(Trial.LONG, "granted again", () -> Trial.isGranted(client, "other"));
        silent.setSoTimeout(1);
        assertThatThrownBy(silent::accept).isInstanceOf(SocketTimeoutException.class);
        new Socket(silent.getInetAddress(), silent.getLocalPort()).close();
        assertThatCode(silent::accept).as("the control").doesNotThrowAnyException();
      }
    } finally {
      servers.forEach(NatsServer::close);
    }
  }
}
