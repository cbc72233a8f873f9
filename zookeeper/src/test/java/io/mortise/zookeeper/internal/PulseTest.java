package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long a session is asked for: who dies in it keeps its locks for as long. */
class PulseTest {
  @ParameterizedTest(name = "TTL {0}, ticks of {1}: {2} ms")
  @CsvSource({
    "PT15S, PT2S, 15000",
    "PT2S, PT0.1S, 2000",
    "PT0.6S, PT0.1S, 600",
    "PT0.0000001S, PT0S, 1",
    // A tick is more than a sixth: by half of the TTL longer, or a third and two ticks.
    "PT0.59S, PT0.1S, 987",
    "PT6S, PT1.001S, 10002",
    "PT10S, PT2S, 17334",
    "PT12S, PT2.001S, 20002",
  })
  void givenTicksOfUpToASixthOfTheTtl_thenASessionLastsAsLongAsThat(
      Duration ttl, Duration tick, int millis) {
    Timer timer = new Timer("test");
    try {
      assertThat(new Pulse(new Guard(), timer, tick, ttl).wantedMillis()).isEqualTo(millis);
    } finally {
      timer.close();
    }
  }
}
