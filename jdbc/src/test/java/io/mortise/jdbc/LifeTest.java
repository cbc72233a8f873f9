package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LifeTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long RENEWED = 1_000_000;
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final long END = RENEWED + 15_000_000;

  private final Life life =
      new Life(
          new SessionSpec(
              SessionId.random(new Random(1)), TTL, new ClientLabel("host", 1, "test")));
  private final Link link = new Link(null, null, null);

  @Test
  void givenSessionThatWasSeen_thenForASecondItIsNotLookedAtAgain_onThatConnection() {
    life.renewed(renewed());
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
    life.renewed(renewed());
    life.renewed(new Renewal.Unknown(new IllegalStateException("no answer")));
    assertThat(life.until(link, 5)).isEqualTo(END);
    life.renewed(new Renewal.Lost("expired"));
    assertThat(life.until(link, 5)).isZero();
    life.renewed(renewed());
    life.ends();
    assertThat(life.until(link, 5)).isZero();
  }

  private static Renewal renewed() {
    return new Renewal.Renewed(RENEWED, List.of(), false);
  }
}
