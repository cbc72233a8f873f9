package io.mortise.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Message;
import io.nats.client.Statistics;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests that fail when the library tells that a connection broke. */
class NatsConnectorTest {
  private Connection.Status status = Connection.Status.CONNECTED;
  private long reconnects;
  private ConnectionListener listener = (connection, event) -> {};
  private final Connection connection = proxy(Connection.class);
  private final NatsConnector connector = NatsConnector.of(connection);

  private <T> T proxy(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "addConnectionListener" -> {
                    listener = (ConnectionListener) arguments[0];
                    yield null;
                  }
                  case "getStatus" -> status;
                  case "getStatistics" -> proxy(Statistics.class);
                  case "getReconnects" -> reconnects;
                  default -> throw new UnsupportedOperationException(method.getName());
                }));
  }

  private CompletableFuture<Message> request() {
    return connector.failingWithConnection(new CompletableFuture<>());
  }

  private void disconnect() {
    status = Connection.Status.RECONNECTING;
    listener.connectionEvent(connection, ConnectionListener.Events.DISCONNECTED);
  }

  private void reconnect() {
    status = Connection.Status.CONNECTED;
    reconnects++;
    listener.connectionEvent(connection, ConnectionListener.Events.RECONNECTED);
  }

  @Test
  void givenRequest_whenItsConnectionBreaks_thenItFails() {
    CompletableFuture<Message> request = request();
    disconnect();
    assertThatThrownBy(request::join).hasCauseInstanceOf(IOException.class);
  }

  @Test
  void givenRequestMadeWhileThereIsNoConnection_thenTriesToReconnectDoNotFailIt() {
    disconnect();
    CompletableFuture<Message> request = request();
    disconnect();
    reconnect();
    assertThat(request).isNotDone();
    disconnect();
    assertThat(request).isCompletedExceptionally();
  }

  @Test
  void givenBreakThatIsToldLate_thenRequestsOverTheNextConnectionRemain() {
    CompletableFuture<Message> before = request();
    status = Connection.Status.CONNECTED;
    reconnects++;
    CompletableFuture<Message> after = request();
    listener.connectionEvent(connection, ConnectionListener.Events.DISCONNECTED);
    assertThat(before).isCompletedExceptionally();
    assertThat(after).isNotDone();
  }
}
