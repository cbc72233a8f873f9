package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.Renewal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionLivenessCacheTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long RENEWED = 1_000_000;
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final long END = RENEWED + 15_000_000;

  private final SessionLivenessCache sessionLivenessCache = new SessionLivenessCache();
  private final StoreConnection storeConnection = new StoreConnection(null, null, null);

  @Test
  void givenSessionThatWasSeen_thenForASecondItIsNotLookedAtAgain_onThatConnection() {
    sessionLivenessCache.renewed(renewed(), TTL);
    assertThat(sessionLivenessCache.until(storeConnection, 0)).as("never seen").isZero();
    sessionLivenessCache.seen(storeConnection, 5);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isEqualTo(END);
    assertThat(sessionLivenessCache.until(storeConnection, 4 + SECOND)).isEqualTo(END);
    assertThat(sessionLivenessCache.until(storeConnection, 5 + SECOND)).isZero();
    assertThat(sessionLivenessCache.until(new StoreConnection(null, null, null), 5)).isZero();
  }

  @Test
  void givenSessionOfWhichNoRenewalIsKnown_thenItIsLookedAtEachTime() {
    sessionLivenessCache.seen(storeConnection, 5);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isZero();
    sessionLivenessCache.renewed(renewed(), TTL);
    sessionLivenessCache.renewed(new Renewal.Unknown(new IllegalStateException("no answer")), TTL);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isEqualTo(END);
    sessionLivenessCache.renewed(new Renewal.Lost("expired"), TTL);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isZero();
    sessionLivenessCache.renewed(renewed(), TTL);
    sessionLivenessCache.ends();
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isZero();
  }

  @Test
  void givenRenewalForLess_whenItIsSent_thenTheSessionIsLookedAtUntilItIsAnswered() {
    sessionLivenessCache.renewed(renewed(), TTL);
    sessionLivenessCache.seen(storeConnection, 5);
    sessionLivenessCache.renews(TTL);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isEqualTo(END);
    Duration less = TTL.dividedBy(3);
    sessionLivenessCache.renews(less);
    assertThat(sessionLivenessCache.until(storeConnection, 5))
        .as("it may have run by now")
        .isZero();
    sessionLivenessCache.renewed(renewed(), less);
    assertThat(sessionLivenessCache.until(storeConnection, 5)).isEqualTo(RENEWED + 5_000_000);
    sessionLivenessCache.renews(TTL);
    assertThat(sessionLivenessCache.until(storeConnection, 5))
        .as("more is no danger")
        .isEqualTo(RENEWED + 5_000_000);
  }

  private static Renewal renewed() {
    return new Renewal.Renewed(RENEWED, List.of(), false);
  }
}
