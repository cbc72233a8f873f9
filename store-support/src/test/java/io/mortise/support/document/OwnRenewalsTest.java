package io.mortise.support.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How long a process may rely on its own session without reading it. */
class OwnRenewalsTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(3);
  private static final Renewal RENEWED = new Renewal.Renewed(0, List.of(), false, "");
  private static final SessionId SESSION = new SessionId("AAAAAAAAAAAA");

  private final AtomicLong micros = new AtomicLong(-5_000_000);
  private final OwnRenewals renewals = new OwnRenewals(micros::get);

  @Test
  void givenRenewal_whenItIsAnswered_thenItCountsFromWhenItWasSent() {
    OwnRenewals.SentRenewal sent = renewals.sent(SESSION, SHORT);
    assertThat(renewals.left(SESSION)).isZero();
    micros.addAndGet(1_000_000);
    sent.answered(RENEWED);
    assertThat(renewals.left(SESSION)).isEqualTo(2_000_000);
    micros.addAndGet(2_000_000);
    assertThat(renewals.left(SESSION)).isZero();
  }

  @Test
  void givenShorterRenewal_whenAnEarlierOneIsAnsweredLate_thenItDoesNotCount() {
    OwnRenewals.SentRenewal early = renewals.sent(SESSION, LONG);
    renewals.sent(SESSION, SHORT).answered(RENEWED);
    early.answered(RENEWED);
    assertThat(renewals.left(SESSION)).isEqualTo(3_000_000);
  }

  @Test
  void givenShorterRenewalWithoutAnswer_thenTheOneBeforeCountsNoLonger() {
    renewals.sent(SESSION, LONG).answered(RENEWED);
    renewals.sent(SESSION, SHORT);
    assertThat(renewals.left(SESSION)).isEqualTo(3_000_000);
  }

  @Test
  void givenSessionThatIsForgotten_whenARenewalIsAnsweredLate_thenNothingIsKnown() {
    OwnRenewals.SentRenewal sent = renewals.sent(SESSION, LONG);
    renewals.forget(SESSION);
    sent.answered(RENEWED);
    assertThat(renewals.left(SESSION)).isZero();
  }
}
