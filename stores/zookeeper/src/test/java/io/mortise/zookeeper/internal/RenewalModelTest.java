package io.mortise.zookeeper.internal;

import static io.mortise.verification.model.ModelAssert.assertBroken;
import static io.mortise.verification.model.ModelAssert.assertSafe;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The session length at which a broken connection costs no lease. Without a server. */
class RenewalModelTest {
  @ParameterizedTest(name = "a tick of {0}, a session longer by {1} 48ths of the TTL")
  @CsvSource({"12, 0", "16, 16", "20, 32", "24, 32", "28, 56", "32, 64"})
  void givenSessionAsLongAsItIsAskedFor_whenTheConnectionBreaks_thenTheLeaseStands(
      int tick, int slack) {
    Duration ttl = Duration.ofMillis(RenewalModel.TTL);
    assertThat(RenewalProof.sessionMillis(Duration.ofMillis(tick), ttl))
        .isEqualTo(ttl.toMillis() + slack);
    assertSafe("renewals, " + tick, new RenewalModel(tick, slack));
  }

  @ParameterizedTest(name = "a tick of {0}, a session longer by {1} 48ths of the TTL")
  @CsvSource({"16, 0", "24, 16"})
  void givenShorterSession_whenTheConnectionBreaks_thenTheLeaseIsLost(int tick, int slack) {
    assertBroken("renewals, too short", new RenewalModel(tick, slack));
  }
}
