package io.mortise.nats;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.NatsServer;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The servers that tests run against. */
final class NatsServers {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable NatsServer shared;

  private NatsServers() {}

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The server that all tests of the JVM share. */
  static synchronized NatsServer shared() {
    NatsServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** No message fits into the buckets of the shared server any more. */
  static Runnable forbidWrites() {
    setLargestMessage(1);
    return () -> setLargestMessage(-1);
  }

  private static void setLargestMessage(int bytes) {
    try (NatsOperator operator = NatsOperator.of(shared())) {
      for (StreamInfo stream : operator.streams().getStreams()) {
        operator
            .streams()
            .updateStream(
                StreamConfiguration.builder(stream.getConfiguration())
                    .maximumMessageSize(bytes)
                    .build());
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Starts one; where there is none, the test is skipped, or on CI fails. */
  static NatsServer start(String... arguments) {
    return NatsServer.start(
        TestPrerequisites.required(NatsServer.installed(), "The program nats-server"), arguments);
  }
}
