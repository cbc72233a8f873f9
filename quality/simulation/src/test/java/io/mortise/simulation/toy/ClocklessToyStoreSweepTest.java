package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.StoreSession;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.SessionDriver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Leftovers of locks and processes in a store of documents, and their removal. */
class ClocklessToyStoreSweepTest {
  private static final Duration TTL = Duration.ofHours(5);
  private static final Duration RETENTION = Duration.ofMinutes(10);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final int BUDGET = 256;

  /** The most keys that a sweep looks at. */
  private static final int LOOKS = 8 * BUDGET;

  /** The most sessions that a process remembers from steps on locks. */
  private static final int REMEMBERED = 4_096;

  private final ManualTime time = new ManualTime();
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();
  private final LockStore store = ClocklessToyStoreUnderTest.open(server, time);
  private final LockStore other = ClocklessToyStoreUnderTest.open(server, time);

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
  void givenMoreDeadSessionsThanAProcessRemembers_whenSweepsGoOn_thenAllAreRemoved() {
    int dead = REMEMBERED + 300;
    for (int i = 0; i < dead; i++) {
      SessionDriver.open(store, Duration.ofSeconds(15), "dead" + i);
    }
    SessionDriver living = SessionDriver.open(store, TTL, "living");
    LockStore sweeping = ClocklessToyStoreUnderTest.open(server, time);
    // A round of first looks, one of ended sessions; ten minutes later one of removals.
    int minutes = 2 * dead / LOOKS + 10 + dead / LOOKS + 3;
    for (int minute = 0; minute < minutes; minute++) {
      time.advance(Duration.ofMinutes(1));
      assertThat(living.renew()).isInstanceOf(Renewal.Renewed.class);
      while (BoundedWait.join(sweeping.sweep(BUDGET)) >= BUDGET) {
        time.advance(Duration.ofMillis(200));
      }
    }
    assertThat(keys("session/")).containsExactly("session/" + living.id());
  }

  @Test
  void givenKeysAndTextsOfAnotherProgram_thenASweepPassesOverThem_andListsLeaveTheKeysOut() {
    SessionDriver dead = SessionDriver.open(store, Duration.ofSeconds(15), "dead");
    use(dead, 0, 20, 1);
    strange("session/!", "");
    strange("session/not an id", "");
    strange("lock/", "");
    strange("lock/fresh\n", "");
    assertThat(BoundedWait.join(store.sessions(null, 100)).items()).hasSize(1);
    LockQuery idle = LockQuery.all().withIdle().page(null, 100);
    assertThat(BoundedWait.join(store.inspect(idle)).items()).hasSize(20);
    strange("session/------------", "another format");
    strange("lock/another", "another format");
    strange("fact/another", "another format");
    List<String> strange = keys("").stream().filter(key -> !isOurs(key, dead)).toList();
    sweep();
    time.advance(RETENTION.plusSeconds(1));
    assertThat(sweep()).isEqualTo(21);
    time.advance(RETENTION);
    assertThat(sweep()).isEqualTo(1);
    assertThat(strange).hasSize(7).isEqualTo(keys(""));
  }

  private void strange(String key, String text) {
    var absent = BoundedWait.join(server.read(key));
    assertThat(BoundedWait.join(server.compareAndSet(key, absent, text)).made()).isTrue();
  }

  private static boolean isOurs(String key, SessionDriver session) {
    return key.matches("lock/fresh[0-9]+") || key.equals("session/" + session.id());
  }

  @Test
  void givenProcessThatSweeps_thenTheOthersLeaveItToIt_untilItStops() {
    SessionDriver.open(store, TTL, "a");
    assertThat(claim(store)).isTrue();
    for (int minute = 0; minute < 3; minute++) {
      time.advance(MINUTE);
      assertThat(claim(other)).isFalse();
      assertThat(claim(store)).isTrue();
    }
    assertThat(claim(other)).isFalse();
    time.advance(MINUTE.multipliedBy(2).minusSeconds(1));
    assertThat(claim(other)).as("a sweep may have taken long").isFalse();
    time.advance(Duration.ofSeconds(2));
    assertThat(claim(other)).as("nobody wrote for two minutes").isTrue();
    assertThat(claim(store)).isFalse();
  }

  @Test
  void givenTwoClientsOverEachStore_thenOneStoreSweeps_andOnceAMinute() {
    SessionDriver.open(store, TTL, "a");
    int[] claimed = new int[2];
    for (int second = 0; second < 3_600; second++) {
      time.advance(Duration.ofSeconds(1));
      boolean asksHere = second % 53 == 0 || second % 60 == 30;
      boolean asksThere = second % 59 == 10 || second % 57 == 20;
      claimed[0] += asksHere && claim(store) ? 1 : 0;
      claimed[1] += asksThere && claim(other) ? 1 : 0;
    }
    assertThat(claimed[0]).isBetween(40, 80);
    assertThat(claimed[1]).isZero();
  }

  @Test
  void givenSweepThatGoesOn_thenItKeepsItsTurn() {
    use(SessionDriver.open(store, TTL, "a"), 0, 2 * BUDGET, 1);
    time.advance(RETENTION.plusSeconds(1));
    assertThat(claim(store)).isTrue();
    assertThat(claim(other)).isFalse();
    assertThat(sweep()).isEqualTo(BUDGET);
    time.advance(MINUTE.multipliedBy(2).plusSeconds(1));
    assertThat(claim(other)).isFalse();
    time.advance(MINUTE.multipliedBy(2).plusSeconds(1));
    assertThat(claim(other)).as("the control: it has ended").isTrue();
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

  @Test
  void givenSessionThatIsClosed_whenItsFirstRenewalIsStillOnItsWay_thenNothingIsLeftOfIt() {
    CompletableFuture<Boolean> let = new CompletableFuture<>();
    LockStore slow = ClocklessToyStoreUnderTest.open(new SlowWrites(server, let), time);
    StoreSession session = SessionDriver.prepare(slow, TTL, "a").session();
    CompletionStage<Renewal> renewal = session.renew(0, 1, List.of());
    BoundedWait.join(session.close());
    assertThat(keys("")).isEmpty();
    let.complete(true);
    assertThat(keys("")).isEmpty();
    assertThat(BoundedWait.join(renewal)).isInstanceOf(Renewal.Lost.class);
  }

  /** Writes wait until they are released. */
  private record SlowWrites(VersionedDocuments documents, CompletableFuture<Boolean> let)
      implements VersionedDocuments {
    @Override
    public CompletionStage<VersionedText> read(String key) {
      return documents.read(key);
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return let.thenCompose(done -> documents.compareAndSet(key, found, text));
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return documents.scan(prefix, after, limit);
    }
  }
}
