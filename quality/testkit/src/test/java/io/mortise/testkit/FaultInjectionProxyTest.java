package io.mortise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traffic and signals through a proxy. Both ends are sockets of the test. */
class FaultInjectionProxyTest {
  private static final int LONG = 30_000;
  private static final int SHORT = 100;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final ServerSocket server = opened(listening());
  private final FaultInjectionProxy faultInjectionProxy =
      opened(FaultInjectionProxy.to(server.getLocalPort()));

  private <T extends AutoCloseable> T opened(T closeable) {
    open.add(0, closeable);
    return closeable;
  }

  private static ServerSocket listening() {
    try {
      return new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Socket dial() throws IOException {
    return opened(new Socket(InetAddress.getLoopbackAddress(), faultInjectionProxy.port()));
  }

  private Socket answer(ServerSocket at) throws IOException {
    at.setSoTimeout(LONG);
    return opened(at.accept());
  }

  private static int hear(Socket socket, int millis) throws IOException {
    socket.setSoTimeout(millis);
    return socket.getInputStream().read();
  }

  private static void assertSilent(Socket socket) {
    assertThatThrownBy(() -> hear(socket, SHORT)).isInstanceOf(SocketTimeoutException.class);
  }

  /** Whether the socket sees the end of its connection, in whatever way. */
  private static boolean isOver(Socket socket) throws IOException {
    try {
      return hear(socket, LONG) < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  @Test
  void givenFrozenNetwork_whenItThaws_thenWhatWasSentArrivesLate() throws Exception {
    Socket client = dial();
    Socket served = answer(server);
    faultInjectionProxy.condition(NetworkCondition.FROZEN);
    client.getOutputStream().write(7);
    assertSilent(served);
    faultInjectionProxy.condition(NetworkCondition.FAIR);
    assertThat(hear(served, LONG)).isEqualTo(7);
  }

  @Test
  void givenLostReplies_thenRequestsArrive_andTheConnectionBreaksAfterwards() throws Exception {
    Socket client = dial();
    Socket served = answer(server);
    faultInjectionProxy.condition(NetworkCondition.MUTE);
    client.getOutputStream().write(7);
    assertThat(hear(served, LONG)).isEqualTo(7);
    served.getOutputStream().write(8);
    assertSilent(client);
    // Messages after a lost one are lost, too.
    client.getOutputStream().write(9);
    assertThat(hear(served, LONG)).isEqualTo(9);
    faultInjectionProxy.condition(NetworkCondition.FAIR);
    assertThat(isOver(client)).isTrue();
    assertThat(isOver(served)).isTrue();
  }

  @Test
  void givenLostRequests_thenAnswersArrive_andTheConnectionBreaksAfterwards() throws Exception {
    Socket client = dial();
    Socket served = answer(server);
    faultInjectionProxy.condition(NetworkCondition.DEAF);
    client.getOutputStream().write(7);
    assertSilent(served);
    faultInjectionProxy.condition(NetworkCondition.FAIR);
    assertThat(isOver(served)).isTrue();
  }

  @Test
  void givenHalfOpenConnection_thenTheServerIsTold_andTheClientIsNot_andANewOneWorks()
      throws Exception {
    Socket client = dial();
    Socket served = answer(server);
    client.getOutputStream().write(1);
    assertThat(hear(served, LONG)).isEqualTo(1);
    faultInjectionProxy.halfOpen();
    assertThat(isOver(served)).isTrue();
    client.getOutputStream().write(7);
    assertSilent(client);
    Socket next = dial();
    Socket nextServed = answer(server);
    next.getOutputStream().write(9);
    assertThat(hear(nextServed, LONG)).isEqualTo(9);
  }

  @Test
  void givenAddressThatLeadsElsewhere_thenConnectionsBreak_andNewOnesReachTheOther()
      throws Exception {
    ServerSocket other = opened(listening());
    Socket client = dial();
    answer(server);
    faultInjectionProxy.lead(other.getLocalPort());
    assertThat(isOver(client)).isTrue();
    Socket next = dial();
    Socket served = answer(other);
    next.getOutputStream().write(9);
    assertThat(hear(served, LONG)).isEqualTo(9);
    faultInjectionProxy.cut();
    assertThat(isOver(next)).isTrue();
    assertThat(isOver(dial())).isTrue();
  }
}
