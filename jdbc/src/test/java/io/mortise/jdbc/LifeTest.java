package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.Renewal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LifeTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long RENEWED = 1_000_000;
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final long END = RENEWED + 15_000_000;

  private final Life life = new Life();
  private final Link link = new Link(null, null, null);

  @Test
  void givenSessionThatWasSeen_thenForASecondItIsNotLookedAtAgain_onThatConnection() {
    life.renewed(renewed(), TTL);
    assertThat(life.until(link, 0)).as("never seen").isZero();
    life.seen(link, 5);
    assertThat(life.until(link, 5)).isEqualTo(END);
    assertThat(life.until(link, 4 + SECOND)).isEqualTo(END);
    assertThat(life.until(link, 5 + SECOND)).isZero();
    assertThat(life.until(new Link(null, null, null), 5)).isZero();
  }

  @Test
  void givenSessionOfWhichNoRenewalIsKnown_thenItIsLookedAtEachTime() {
    life.seen(link, 5);
    assertThat(life.until(link, 5)).isZero();
    life.renewed(renewed(), TTL);
    life.renewed(new Renewal.Unknown(new IllegalStateException("no answer")), TTL);
    assertThat(life.until(link, 5)).isEqualTo(END);
    life.renewed(new Renewal.Lost("expired"), TTL);
    assertThat(life.until(link, 5)).isZero();
    life.renewed(renewed(), TTL);
    life.ends();
    assertThat(life.until(link, 5)).isZero();
  }

  @Test
  void givenRenewalForLess_whenItIsSent_thenTheSessionIsLookedAtUntilItIsAnswered() {
    life.renewed(renewed(), TTL);
    life.seen(link, 5);
    life.renews(TTL);
    assertThat(life.until(link, 5)).isEqualTo(END);
    Duration less = TTL.dividedBy(3);
    life.renews(less);
    assertThat(life.until(link, 5)).as("it may have run by now").isZero();
    life.renewed(renewed(), less);
    assertThat(life.until(link, 5)).isEqualTo(RENEWED + 5_000_000);
    life.renews(TTL);
    assertThat(life.until(link, 5)).as("more is no danger").isEqualTo(RENEWED + 5_000_000);
  }

  private static Renewal renewed() {
    return new Renewal.Renewed(RENEWED, List.of(), false);
  }
}
