package io.mortise.zookeeper.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requested session length: a crashed process keeps its locks for as long, if none waits. */
class RenewalProofTest {
  @ParameterizedTest(name = "TTL {0}, ticks of {1}: {2} ms")
  @CsvSource({
    "PT15S, PT2S, 15000",
    "PT2S, PT0.1S, 2000",
    "PT0.6S, PT0.1S, 600",
    "PT0.0000001S, PT0S, 1",
    "PT2S, PT0.5S, 2000",
    "PT8S, PT2S, 8000",
    // Less than four ticks: longer by a tick, rounded up to thirds of the TTL.
    "PT7.5S, PT2S, 10000",
    "PT6S, PT2S, 8000",
    "PT4.5S, PT2S, 7500",
    "PT0.399S, PT0.1S, 532",
    // Less than two: longer by two ticks.
    "PT3.999S, PT2S, 7999",
    "PT2S, PT2S, 6000",
  })
  void givenTicksOfUpToAQuarterOfTheTtl_thenASessionLastsAsLongAsThat(
      Duration ttl, Duration tick, int millis) {
    assertThat(RenewalProof.sessionMillis(tick, ttl)).isEqualTo(millis);
  }
}
