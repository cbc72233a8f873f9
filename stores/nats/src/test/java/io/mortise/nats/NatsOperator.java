package io.mortise.nats;

import io.mortise.testserver.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import java.io.IOException;

/** A connection beside the store, for commands by hand. */
record NatsOperator(Connection connection) implements AutoCloseable {
  static NatsOperator of(NatsServer server) throws Exception {
    return new NatsOperator(Nats.connect(server.url()));
  }

  JetStreamManagement streams() throws IOException {
    return connection.jetStreamManagement();
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
