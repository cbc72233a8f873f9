package io.mortise.console.internal.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stream to a client that does not read. */
class WriteLimitTest {
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final WriteLimit limit = new WriteLimit(timer, Duration.ofSeconds(2));

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  @Test
  void givenClientThatDoesNotRead_whenItsBuffersAreFull_thenTheStreamEnds() throws IOException {
    Pipe pipe = Pipe.open();
    String line = "x".repeat(10_000);
    int[] written = {0};
    try (OutputStream out = Channels.newOutputStream(pipe.sink())) {
      EventSink sink = new EventSink(out, limit);
      assertThatThrownBy(
              () -> {
                while (true) {
                  sink.event("list", null, line);
                  written[0]++;
                }
              })
          .isInstanceOf(ClosedByInterruptException.class);
    } finally {
      pipe.source().close();
    }
    assertThat(written[0]).as("positive control: what the buffers take").isPositive();
    assertThat(Thread.interrupted()).as("the thread is left interrupted").isFalse();
  }
}
