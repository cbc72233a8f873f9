package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is left of locks and processes in a store of documents, and who removes it. */
class TimelessStoreSweepTest {
  private static final Duration TTL = Duration.ofHours(5);
  private static final Duration RETENTION = Duration.ofMinutes(10);
  private static final int BUDGET = 256;

  private final ManualTime time = new ManualTime();
  private final TimelessDocuments server = new TimelessDocuments(ToyStoreUnderTest.micros(time));
  private final LockStore store = TimelessStoreUnderTest.open(server, time);
  private final LockStore other = TimelessStoreUnderTest.open(server, time);

  private static void use(SessionDriver session, int from, int to, int step) {
    for (int i = from; i < to; i += step) {
      LockName name = LockName.of("fresh" + i);
      session.end(name, session.hold(name, Mode.EXCLUSIVE).attempt());
    }
  }

  private List<String> keys(String prefix) {
    return BoundedWait.join(server.scan(prefix, "", 100_000));
  }

  private int sweep() {
    return BoundedWait.join(store.sweep(BUDGET));
  }

  private static boolean claim(LockStore by) {
    return BoundedWait.join(by.claimSweep());
  }

  @Test
  void givenOldNamesAmongManyFreshOnes_whenSweepsGoOn_thenTheOldOnesAreRemoved() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    use(a, 0, 6_000, 4);
    time.advance(RETENTION.plusSeconds(1));
    use(a, 1, 6_000, 4);
    use(a, 2, 6_000, 4);
    use(a, 3, 6_000, 4);
    int sweeps = 1;
    while (sweep() >= BUDGET) {
      sweeps++;
    }
    assertThat(sweep()).as("the rest, and then a new round").isLessThan(BUDGET);
    assertThat(keys("lock/")).hasSizeBetween(4_500, 4_500 + 6_000 / 8);
    assertThat(sweeps).isLessThan(8);
    assertThat(keys("session/")).hasSize(1);
  }

  @Test
  void givenSweep_thenItRemovesNoMoreThanItMay_andLooksAtNoMoreThanEightTimesThat() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    use(a, 0, 100, 1);
    time.advance(RETENTION.plusSeconds(1));
    assertThat(BoundedWait.join(store.sweep(20))).isEqualTo(20);
    assertThat(keys("lock/")).hasSize(80);
    use(a, 0, 100, 1);
    assertThat(BoundedWait.join(store.sweep(20))).isZero();
  }

  @Test
  void givenServerWithoutSessionsLocksAndFacts_whenAProcessAsksForItsTurn_thenNothingIsWritten() {
    assertThat(claim(store)).isFalse();
    assertThat(keys("")).isEmpty();
  }

  @Test
  void givenProcessThatSweeps_thenTheOthersLeaveItToIt_untilItStops() {
    SessionDriver.open(store, TTL, "a");
    assertThat(claim(store)).isTrue();
    for (int minute = 0; minute < 3; minute++) {
      assertThat(claim(other)).isFalse();
      assertThat(claim(store)).isTrue();
    }
    assertThat(claim(other)).isFalse();
    assertThat(claim(other)).as("nobody wrote for a minute").isTrue();
    assertThat(claim(store)).isFalse();
  }

  @Test
  void givenSweepThatGoesOn_thenItKeepsItsTurn() {
    use(SessionDriver.open(store, TTL, "a"), 0, 2 * BUDGET, 1);
    time.advance(RETENTION.plusSeconds(1));
    assertThat(claim(store)).isTrue();
    assertThat(claim(other)).isFalse();
    assertThat(sweep()).isEqualTo(BUDGET);
    assertThat(claim(other)).isFalse();
    // The control: it has ended.
    assertThat(claim(other)).isTrue();
  }

  @Test
  void givenSessionThatIsClosed_thenNothingIsLeftOfIt_andARenewalOnItsWayDoesNotMakeItAnew() {
    SessionDriver a = SessionDriver.open(store, TTL, "a");
    assertThat(keys("session/")).hasSize(1);
    SessionDriver onTheWay = a.twin(other);
    a.close();
    assertThat(keys("session/")).isEmpty();
    assertThat(onTheWay.renew()).isInstanceOf(Renewal.Lost.class);
    assertThat(keys("")).isEmpty();
  }
}
