package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Instant;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The capacity of a token. Without a server. */
class TokenEpochTest {
  private static final long ELECTION = 1L << 32;

  private static long base(String made) {
    Stat stat = new Stat();
    stat.setCtime(Instant.parse(made).toEpochMilli());
    return TokenEpoch.base(stat);
  }

  @ParameterizedTest(name = "{1} elections from 2026-11-25 to {0}")
  @CsvSource({
    "2026-11-25T00:00:01Z, 0",
    "2026-11-26T00:00:00Z, 1",
    "2027-11-25T00:00:00Z, 460",
  })
  void givenDataThatIsLost_thenTokensBeginAboveAllThatWereGiven(String lost, long elections) {
    long last = base("2026-11-25T00:00:00Z") + elections * ELECTION + 50_000;
    assertThat(base(lost)).isGreaterThan(last);
  }

  /** As earlier releases granted them: without an epoch. */
  @Test
  void givenTokensWithoutAnEpoch_thenOneThatIsMadeNowIsAboveThem() {
    assertThat(base("2026-11-25T00:00:00Z")).isGreaterThan(3_000 * ELECTION);
  }

  @Test
  void givenClockBeforeAllEpochs_orFarInTheFuture_thenTokensArePositive() {
    assertThat(base("1999-01-01T00:00:00Z")).isZero();
    assertThat(base("2085-01-01T00:00:00Z") << 16).isPositive();
  }
}
