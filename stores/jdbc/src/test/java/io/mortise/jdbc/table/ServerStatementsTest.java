package io.mortise.jdbc.table;

import static io.mortise.jdbc.table.TestTables.NAMESPACE;
import static io.mortise.jdbc.table.TestTables.asking;
import static io.mortise.jdbc.table.TestTables.hold;
import static io.mortise.jdbc.table.TestTables.lock;
import static io.mortise.jdbc.table.TestTables.notifications;
import static io.mortise.jdbc.table.TestTables.session;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.jdbc.table.LockRepository.BatchedRequest;
import io.mortise.jdbc.table.LockRepository.TokenRange;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link StatementsTest}, of the statements that do a whole step on a server, by its clock.
 * Their times count from the one that they leave in the row.
 */
@ParameterizedClass
@ValueSource(strings = {"postgresql", "mysql", "mariadb"})
class ServerStatementsTest extends ServerStatementsFixture {
  @Test
  void givenFreeLock_whenTaken_thenAllOfItsRowSaysSo() throws SQLException {
    taken(free("told", 3, "evicted", 1), acquire());
    taken(free("ended", OTHER.encoded()), acquire());
    taken(free(), acquire(TERMS, 6, 3));
    taken(free("last_token", now + LEAD / 2), acquire());
    taken(free(), acquire(HoldTerms.NONE, 5, now + LEAD / 2));
    if (isPostgres()) {
      taken(free("last_token", now + LEAD - 4_000), acquire(HoldTerms.NONE, 8_000, 0));
      taken(free(), acquire(HoldTerms.NONE, 8_000, now + LEAD - 4_000));
      taken(free("last_token", now + MINUTE), acquire());
    } else {
      tooFarAhead(free("last_token", now + MINUTE), 3, 5);
      tooFarAhead(free(), now + MINUTE, 5);
      tooFarAhead(free("last_token", now - MINUTE), 3, 500_000_000);
    }
  }

  private void tooFarAhead(Map<String, Object> lock, long floor, int tokens) throws SQLException {
    only(lock);
    assertThat(tables.update("acquire_fast", asking(ATTEMPT, WHOLE, tokens, floor))).isZero();
    assertUnchanged(lock);
  }

  @Test
  void givenLockThatIsNotFree_whenTakenTheShortWay_thenNothingIsChanged() throws SQLException {
    for (Map<String, Object> lock : notFree()) {
      only(lock);
      assertThat(storeConnection.repository.acquireFast(acquire(), () -> now))
          .as(lock.toString())
          .isNull();
      assertUnchanged(lock);
    }
    for (String session : List.of("unknown", DEAD.session().value())) {
      only(free());
      endSession();
      assertThat(storeConnection.repository.acquireFast(acquire(), () -> now)).as(session).isNull();
      assertUnchanged(free());
    }
  }

  @Test
  void givenHeldLock_whenReleasedTheShortWay_thenAllOfItsRowSaysSo() throws SQLException {
    Request.Abandon abandon = new Request.Abandon(NAME, ATTEMPT);
    for (long shut : new long[] {0, now + MINUTE}) {
      Map<String, Object> lock = held(ATTEMPT, "shut_us", shut, "free_us", now + MINUTE);
      only(lock);
      assertThat(storeConnection.repository.abandonFast(abandon, () -> now)).isTrue();
      assertThat(changed()).isEqualTo(with(vacated(lock, ATTEMPT), "touched_us", time()));
    }
    for (Map<String, Object> lock : special(ATTEMPT)) {
      only(lock);
      assertThat(storeConnection.repository.abandonFast(abandon, () -> now))
          .as(lock.toString())
          .isFalse();
      assertUnchanged(lock);
    }
  }

  private List<Map<String, Object>> special(AttemptId owner) {
    List<Map<String, Object>> special = new ArrayList<>(left(owner));
    special.addAll(
        List.of(
            held(OTHER),
            held(owner, "waiters", 1),
            held(owner, "told", 1),
            held(owner, "told", 2),
            held(owner, "evicted", 1),
            held(owner, "free_us", now - 1)));
    return special;
  }

  @Test
  void givenHeldLock_whenTheSameProcessGivesItToAnotherAttempt_thenAllOfItsRowSaysSo()
      throws SQLException {
    retaken(held(OLD, "shut_us", now - 7), acquire());
    retaken(held(OLD, "free_us", now + MINUTE, "ended", OTHER.encoded()), acquire());
    retaken(held(OLD, "last_token", now + LEAD / 2), acquire());
    retaken(held(OLD), acquire(HoldTerms.NONE, 5, now + LEAD / 2));
    if (isPostgres()) {
      retaken(held(OLD, "shut_us", now - 2 * MINUTE), acquire(TERMS, 6, 3));
      retaken(held(OLD, "last_token", now + LEAD - 4_000), acquire(HoldTerms.NONE, 8_000, 0));
      retaken(held(OLD), acquire(HoldTerms.NONE, 8_000, now + LEAD - 4_000));
      retaken(held(OLD, "last_token", now + MINUTE), acquire());
    }
    List<Map<String, Object>> others = new ArrayList<>(special(OLD));
    others.add(held(OLD, "closed_us", now + MINUTE));
    others.add(held(OLD, "shut_us", now + MINUTE));
    others.add(held(OLD, "capacity", WHOLE + 1));
    for (Map<String, Object> lock : others) {
      only(lock);
      assertThat(retake(acquire())).as(lock.toString()).isNull();
      assertUnchanged(lock);
    }
    for (int i = 0; i < 2; i++) {
      only(held(OLD));
      endSession();
      assertThat(retake(acquire())).isNull();
      assertUnchanged(held(OLD));
    }
  }

  @Test
  void givenHeldLockWithAQueue_whenReleased_thenItsHeadHasIt() throws SQLException {
    Request.Acquire plain =
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, HoldTerms.NONE, 5, 3, null);
    Map<String, Object> second = waits(THIRD, 9, "label", "not yet", "tokens", 7);
    handedOver(held(OLD, "waiters", 1), List.of(waits(OTHER, 8)), plain);
    handedOver(held(OLD, "waiters", 2, "told", 3), List.of(second, waits(OTHER, 8)), plain);
    handedOver(held(OLD, "waiters", 1, "shut_us", now - 7), List.of(waits(OTHER, 8)), plain);
    handedOver(
        held(OLD, "waiters", 1, "free_us", now + MINUTE),
        List.of(
            waits(
                OTHER, 8, "at_most_us", 300_000_000, "at_least_us", 200_000_000, "label", "after")),
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, TERMS, 5, 3, null));
    handedOver(
        held(OLD, "waiters", 1, "last_token", now + LEAD - 4_000),
        List.of(waits(OTHER, 8, "tokens", 8_000)),
        new Request.Acquire(NAME, OTHER, Mode.EXCLUSIVE, true, HoldTerms.NONE, 8_000, 3, null));
    handedOver(
        held(OLD, "waiters", 1, "last_token", now + MINUTE), List.of(waits(OTHER, 8)), plain);
    handedOver(
        held(OLD, "waiters", 1),
        List.of(waits(OTHER, 8, "token_floor", now + LEAD / 2)),
        new Request.Acquire(
            NAME, OTHER, Mode.EXCLUSIVE, true, HoldTerms.NONE, 5, now + LEAD / 2, null));
  }

  @Test
  void givenHeldLockThatNobodyWaitsForAnyMore_whenReleased_thenItIsFree() throws SQLException {
    for (long shut : new long[] {0, now + MINUTE}) {
      Map<String, Object> lock = held(OLD, "shut_us", shut, "told", 3, "free_us", now + MINUTE);
      only(lock);
      queue(List.of());
      tables.put("news", notifications(1_000_001, OLD.session().value(), "wanted", OLD.encoded()));
      assertThat(
              ContendedRequestRunner.handOff(
                  storeConnection.repository, new Request.Abandon(NAME, OLD), told::add))
          .isTrue();
      Map<String, Object> expected = with(vacated(lock, OLD), "touched_us", time());
      // The owner's columns have no meaning without an owner.
      assertThat(with(changed(), "free_us", 0, "shut_us", 0))
          .isEqualTo(with(expected, "free_us", 0, "shut_us", 0));
      assertThat(tables.all("news")).isEmpty();
      assertThat(told).isEmpty();
    }
  }

  @Test
  void givenLockThatCannotBeHandedOver_whenReleasedThatWay_thenNothingIsChanged()
      throws SQLException {
    List<Map<String, Object>> waiters = List.of(waits(OTHER, 8));
    notHandedOver(held(ATTEMPT, "waiters", 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "evicted", 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "free_us", now - 1), waiters);
    notHandedOver(held(OLD, "waiters", 1, "closed_us", now + MINUTE), waiters);
    notHandedOver(held(OLD, "waiters", 1, "shut_us", now + MINUTE), waiters);
    notHandedOver(held(OLD, "waiters", 1), List.of(waits(OTHER, 8, "weight", 1)));
    notHandedOver(held(OLD, "waiters", 1), List.of(waits(DEAD, 8)));
    notHandedOver(held(OLD, "waiters", 2), List.of(waits(DEAD, 8), waits(OTHER, 9)));
    notHandedOver(held(OLD, "waiters", 1), List.of());
    notHandedOver(held(OLD, "evicted", 1), List.of());
    notHandedOver(held(OLD, "free_us", now - 1), List.of());
    notHandedOver(held(ATTEMPT), List.of());
  }

  @Test
  void givenFreeLock_whenAskedForInAQueue_thenItIsTaken() throws SQLException {
    takenInQueue(free("told", 3, "evicted", 1), acquire());
    takenInQueue(free("ended", OTHER.encoded()), acquire(TERMS, 6, 3));
    takenInQueue(free("last_token", now + LEAD / 2), acquire());
    takenInQueue(free(), acquire(HoldTerms.NONE, 5, now + LEAD / 2));
    takenInQueue(free("last_token", now + LEAD - 4_000), acquire(HoldTerms.NONE, 8_000, 0));
    takenInQueue(free("last_token", now + MINUTE), acquire());
    for (Map<String, Object> lock : notFree()) {
      notQueued(lock, List.of());
    }
  }

  @Test
  void givenHeldLock_whenAskedForInAQueue_thenItsEndIsJoinedAndTheHolderTold() throws SQLException {
    queued(held(OTHER), acquire(), List.of(), NEVER);
    queued(held(OTHER, "told", 1), acquire(TERMS, 6, 9), List.of(), NEVER);
    queued(held(OTHER, "told", 2, "free_us", now + MINUTE), acquire(), List.of(), NEVER);
    queued(held(OTHER, "told", 3, "ended", THIRD.encoded()), acquire(), List.of(), NEVER);
    // Of those ahead one has ended; its place counts, its time does not.
    setSession(THIRD, now + 30_000_000);
    queued(
        held(OTHER, "waiters", 3, "told", 3, "next_ticket", 19),
        acquire(),
        List.of(waits(THIRD, 15), waits(OTHER, 16), waits(DEAD, 17)),
        now + 30_000_000);
    setSession(THIRD, now + MINUTE);
    setSession(OTHER, now + 30_000_000);
    queued(
        held(OTHER, "waiters", 2, "told", 3, "next_ticket", 19),
        acquire(),
        List.of(waits(THIRD, 15), waits(OTHER, 16)),
        now + 30_000_000);
  }

  @Test
  void givenLockWithASpecialHolderOrQueue_whenAskedForInAQueue_thenNothingIsChanged()
      throws SQLException {
    notQueued(held(ATTEMPT), List.of());
    notQueued(held(OTHER, "ended", ATTEMPT.encoded()), List.of());
    notQueued(held(OTHER, "capacity", WHOLE + 1, "used", WHOLE + 1), List.of());
    notQueued(held(OTHER, "evicted", 1), List.of());
    notQueued(held(OTHER, "free_us", now - 1), List.of());
    notQueued(held(OTHER, "closed_us", now + MINUTE), List.of());
    notQueued(held(DEAD), List.of());
    notQueued(held(OTHER, "waiters", 1, "told", 3), List.of(waits(DEAD, 1)));
    notQueued(held(OTHER, "waiters", 1, "told", 3), List.of(waits(ATTEMPT, 1)));
    notQueued(held(OTHER, "waiters", 2, "told", 3), List.of(waits(THIRD, 1), waits(ATTEMPT, 2)));
    notQueued(held(OTHER, "waiters", 2, "told", 3), List.of(waits(DEAD, 1), waits(THIRD, 2)));
    setSession(OTHER, now + 3 * MINUTE);
    notQueued(held(OTHER), List.of());
    setSession(OTHER, now + MINUTE);
    for (int i = 0; i < 2; i++) {
      endSession();
      notQueued(held(OTHER), List.of());
      notQueued(free(), List.of());
    }
  }

  @Test
  void givenManyRequests_whenDoneTogether_thenEachAsByItself() throws SQLException {
    HoldTerms least = new HoldTerms(null, Duration.ofSeconds(200), "a \"label\"");
    together(free("told", 3, "evicted", 1), new BatchedRequest(acquire(), null, true), true);
    together(
        free("ended", OTHER.encoded()), new BatchedRequest(acquire(least, 6, 3), null, true), true);
    together(free("last_token", now + LEAD / 2), new BatchedRequest(acquire(), null, true), true);
    together(
        free(), new BatchedRequest(acquire(HoldTerms.NONE, 5, now + LEAD / 2), null, true), true);
    for (Map<String, Object> lock : notFree()) {
      together(lock, new BatchedRequest(acquire(), null, true), false);
    }
    together(held(OTHER), new BatchedRequest(acquire(), null, true), false);
    BatchedRequest release = new BatchedRequest(new Request.Abandon(NAME, ATTEMPT), null, true);
    together(held(ATTEMPT), release, true);
    together(held(ATTEMPT, "shut_us", now + MINUTE, "free_us", now + MINUTE), release, true);
    for (Map<String, Object> lock : special(ATTEMPT)) {
      together(lock, release, false);
    }
    BatchedRequest retake = new BatchedRequest(acquire(), OLD, false);
    together(held(OLD, "shut_us", now - 7, "free_us", now + MINUTE), retake, true);
    together(held(OLD), new BatchedRequest(acquire(least, 6, 3), OLD, false), true);
    together(held(OLD, "last_token", now + LEAD / 2), retake, true);
    for (Map<String, Object> lock : special(OLD)) {
      together(lock, retake, false);
    }
    together(held(OLD, "closed_us", now + MINUTE), retake, false);
    together(held(OLD, "shut_us", now + MINUTE), retake, false);
    together(held(OLD, "capacity", WHOLE + 1), retake, false);
    together(free(), retake, false);
    for (int i = 0; i < 2; i++) {
      endSession();
      together(free(), new BatchedRequest(acquire(), null, true), false);
      together(held(OLD), retake, false);
      together(held(ATTEMPT), release, true);
    }
  }

  @Test
  void givenLockWithoutARow_whenTakenTogether_thenItHasOneThatSaysWhoHoldsIt() throws SQLException {
    HoldTerms least = new HoldTerms(null, Duration.ofSeconds(200), "a \"label\"");
    madeHeld(acquire());
    madeHeld(acquire(least, 6, now + LEAD / 2));
    HoldTerms both = new HoldTerms(Duration.ofSeconds(300), Duration.ofSeconds(200), "");
    Mode permit = Mode.permits(1, 1);
    madeHeld(new Request.Acquire(NAME, ATTEMPT, permit, true, HoldTerms.NONE, 1, 0, null));
    if (isPostgres()) {
      madeHeld(acquire(both, 6, 3));
      notMade(new BatchedRequest(acquire(), OLD, false));
      notMade(new BatchedRequest(acquire(HoldTerms.NONE, 5, now + MINUTE), null, true));
      notMade(new BatchedRequest(new Request.Abandon(NAME, ATTEMPT), null, true));
      for (int i = 0; i < 2; i++) {
        endSession();
        notMade(new BatchedRequest(acquire(), null, true));
      }
    }
  }

  @Test
  void givenLockWithoutARow_whenTakenByItself_thenItHasOneThatSaysWhoHoldsIt() throws SQLException {
    for (Request.Acquire request :
        List.of(
            acquire(),
            acquire(new HoldTerms(null, Duration.ofSeconds(200), "a \"label\""), 6, now + LEAD / 2),
            acquire(new HoldTerms(Duration.ofSeconds(300), null, ""), 6, 3),
            new Request.Acquire(
                NAME, ATTEMPT, Mode.permits(1, 1), true, HoldTerms.NONE, 1, 0, null))) {
      remove();
      TokenRange tokenRange = storeConnection.repository.acquireFirst(request);
      Map<String, Object> expected =
          granted(unknown("lock", request.mode().capacity()), request, time());
      assertThat(changed()).isEqualTo(expected);
      assertThat(tokenRange).isEqualTo(block(expected));
    }
    for (Map<String, Object> lock : List.of(free(), held(OTHER), held(ATTEMPT))) {
      only(lock);
      assertThat(storeConnection.repository.acquireFirst(acquire())).isNull();
      assertUnchanged(lock);
    }
    remove();
    assertThat(storeConnection.repository.acquireFirst(acquire(HoldTerms.NONE, 5, now + MINUTE)))
        .isNull();
    if (!isPostgres()) {
      long many = 2 * LEAD;
      assertThat(tables.update("acquire_first", asking(ATTEMPT, WHOLE, many, 0))).isZero();
    }
    for (int i = 0; i < 2; i++) {
      endSession();
      assertThat(storeConnection.repository.acquireFirst(acquire())).isNull();
    }
    tables.assertAll("lock", other, elsewhere);
  }

  @Test
  void givenLocksWithoutARow_whenOneSessionTakesThemTogether_thenItHasThem() throws SQLException {
    remove();
    Request.Acquire second =
        new Request.Acquire(
            LockName.of("second"), OLD, Mode.EXCLUSIVE, true, HoldTerms.NONE, 2, 0, null);
    Map<String, TokenRange> done =
        storeConnection.repository.executeBatch(
            List.of(
                new BatchedRequest(acquire(), null, true), new BatchedRequest(second, null, true)));
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name = 'second'");
    assertThat(done).containsOnlyKeys(ATTEMPT.encoded(), OLD.encoded());
    assertThat(changed()).containsEntry("owner", ATTEMPT.encoded());
  }

  /** Beside one that is held, and one that is new and another session's. */
  private void madeHeld(Request.Acquire request) throws SQLException {
    remove();
    LockName second = LockName.of("second");
    Request.Acquire beside =
        new Request.Acquire(second, THIRD, Mode.EXCLUSIVE, true, HoldTerms.NONE, 2, 0, null);
    Map<String, TokenRange> done =
        storeConnection.repository.executeBatch(
            List.of(
                vainly("other"),
                new BatchedRequest(beside, null, true),
                new BatchedRequest(request, null, true)));
    Map<String, Object> made =
        tables.all("lock").stream()
            .filter(lock -> lock.get("name").equals("second"))
            .findFirst()
            .orElseThrow();
    tables.execute("DELETE FROM " + tables.text.table("lock") + " WHERE name = 'second'");
    assertThat(made)
        .isEqualTo(granted(unknown("second", WHOLE), beside, (long) made.get("touched_us")));
    Map<String, Object> expected =
        granted(unknown("lock", request.mode().capacity()), request, time());
    assertThat(changed()).isEqualTo(expected);
    assertThat(done)
        .containsEntry(THIRD.encoded(), block(made))
        .containsEntry(ATTEMPT.encoded(), block(expected))
        .doesNotContainKey(VAIN.encoded());
  }

  private void notMade(BatchedRequest batchedRequest) throws SQLException {
    remove();
    assertThat(storeConnection.repository.executeBatch(List.of(vainly("other"), batchedRequest)))
        .isEmpty();
    tables.assertAll("lock", other, elsewhere);
  }

  private static BatchedRequest vainly(String name) {
    return new BatchedRequest(
        new Request.Acquire(
            LockName.of(name), VAIN, Mode.EXCLUSIVE, true, HoldTerms.NONE, 2, 0, null),
        null,
        true);
  }

  /** A row that nothing was written to. */
  private static Map<String, Object> unknown(String name, long capacity) {
    Map<String, Object> row = lock(NAMESPACE, name, "capacity", capacity, "label", "");
    for (String column :
        List.of("last_token", "next_place", "next_ticket", "closed_us", "touched_us")) {
      row = with(row, column, 0);
    }
    return with(row, "ended_was", "HELD", "ended_how", "RELEASED");
  }

  /** Rows were deleted, or restored, apart from each other. */
  @Test
  void givenLockThatDoesNotKnowItsQueue_whenItIsReleased_thenItsHeadIsServed_andItsCountIsRight()
      throws SQLException {
    Request.Abandon release = new Request.Abandon(NAME, OLD);
    for (int waiters : List.of(0, 1, 2, 7)) {
      only(held(OLD, "waiters", waiters, "told", 3));
      queue(List.of(waits(OTHER, 5), waits(THIRD, 6)));
      storeConnection.begin(LockRepository.PrefetchTarget.of(release));
      Reply.Ended ended = (Reply.Ended) storeConnection.locks.apply(release, storeConnection.now());
      storeConnection.commit();
      assertThat(ended.was()).isEqualTo(Reply.AttemptState.HELD);
      assertThat(changed()).containsEntry("owner", OTHER.encoded()).containsEntry("waiters", 1L);
    }
  }

  /** One permit of one is the whole lock. */
  @Test
  void givenLockOfOnePermit_whenTakenReleasedOrRetaken_thenAsAnyWholeLock() throws SQLException {
    Request.Acquire one =
        new Request.Acquire(NAME, ATTEMPT, Mode.permits(1, 1), true, HoldTerms.NONE, 5, 3, null);
    Map<String, Object> held = held(OLD, "capacity", 1, "used", 1);
    taken(free("capacity", 1), one);
    retaken(held, one);
    takenInQueue(free("capacity", 1), one);
    together(free("capacity", 1), new BatchedRequest(one, null, true), true);
    together(held, new BatchedRequest(one, OLD, false), true);
    Request.Abandon release = new Request.Abandon(NAME, ATTEMPT);
    Map<String, Object> own = held(ATTEMPT, "capacity", 1, "used", 1);
    together(own, new BatchedRequest(release, null, true), true);
    only(own);
    assertThat(storeConnection.repository.abandonFast(release, () -> now)).isTrue();
    only(own);
    assertThat(ContendedRequestRunner.handOff(storeConnection.repository, release, told::add))
        .isTrue();
    only(with(own, "owner", OTHER.encoded()));
    assertThat(ContendedRequestRunner.queueUp(storeConnection.repository, one, told::add).taken())
        .isNull();
    assertThat(changed()).containsEntry("waiters", 1L);
  }

  @Test
  void givenAttemptThatHoldsOrHasEndedInASpecialWay_whenAskedTogether_thenItIsNotServed()
      throws SQLException {
    BatchedRequest acquire = new BatchedRequest(acquire(), null, true);
    together(held(ATTEMPT, "waiters", 1), acquire, false);
    together(held(ATTEMPT, "told", 1), acquire, false);
    together(held(ATTEMPT, "evicted", 1), acquire, false);
    together(held(ATTEMPT, "free_us", now + MINUTE), acquire, false);
    BatchedRequest release = new BatchedRequest(new Request.Abandon(NAME, ATTEMPT), null, true);
    Map<String, Object> ended = free("ended", ATTEMPT.encoded());
    together(with(ended, "ended_was", "WAITING", "ended_how", "RELEASED"), release, false);
    together(with(ended, "ended_was", "HELD", "ended_how", "EVICTED"), release, false);
  }

  @Test
  void givenLock_whenAStepBegins_thenItHasReadAllThatItMayAskFor() throws SQLException {
    Map<String, Object> lock = held(OTHER, "waiters", 3, "told", 3);
    only(lock);
    setSession(THIRD, now + 2 * MINUTE);
    setSession(OTHER, now + 3 * MINUTE);
    queue(List.of(waits(THIRD, 4), waits(ATTEMPT, 5), waits(OTHER, 3)));
    begin();
    assertThat(storeConnection.now()).isBetween(now, now + MINUTE);
    LockRow row = storeConnection.repository.lock("lock");
    assertThat(row.owner.attempt).isEqualTo(OTHER);
    assertThat(row.waiters).isEqualTo(3);
    assertThat(attempts()).containsExactly(OTHER.encoded(), THIRD.encoded(), ATTEMPT.encoded());
    assertThat(storeConnection.repository.waiter("lock", ATTEMPT.encoded()).ticket()).isEqualTo(5);
    assertThat(storeConnection.repository.soonestEnd("lock", 5, 64, now))
        .isEqualTo(now + 2 * MINUTE);
    for (AttemptId known : List.of(ATTEMPT, OTHER, THIRD)) {
      assertThat(storeConnection.repository.session(known.session().value()))
          .as(known.toString())
          .isNotNull();
    }
    storeConnection.rollback();

    // One who is not in the queue stands behind all of it.
    queue(List.of(waits(THIRD, 4), waits(OTHER, 5), waits(DEAD, 3)));
    begin();
    assertThat(storeConnection.repository.waiter("lock", ATTEMPT.encoded())).isNull();
    assertThat(storeConnection.repository.soonestEnd("lock", 6, 64, now))
        .isEqualTo(now + 2 * MINUTE);
    storeConnection.rollback();

    only(free("used", 3, "next_place", 40));
    queue(List.of());
    for (AttemptId holder : List.of(THIRD, OTHER, DEAD)) {
      tables.put(
          "hold",
          with(
              hold(NAMESPACE, "lock", holder.encoded()),
              "place",
              holder.equals(OTHER) ? 1 : holder.equals(THIRD) ? 2 : 3));
      tables.put("hold", with(hold(NAMESPACE, "other", holder.encoded()), "place", 0));
      tables.put("hold", with(hold("two", "lock", holder.encoded()), "place", 0));
    }
    begin();
    assertThat(storeConnection.repository.holds("lock", 64).stream().map(hold -> hold.attempt))
        .containsExactly(OTHER, THIRD, DEAD);
    for (AttemptId known : List.of(ATTEMPT, OTHER, THIRD, DEAD)) {
      assertThat(storeConnection.repository.session(known.session().value()))
          .as(known.toString())
          .isNotNull();
    }
    storeConnection.rollback();
  }

  private List<String> attempts() throws SQLException {
    return storeConnection.repository.heads("lock", 3).stream().map(WaitRow::attempt).toList();
  }

  @Test
  void givenSessions_whenNewsIsLeft_thenForThoseThatLiveOnlyAndTheRestIsSwept()
      throws SQLException {
    SessionNotification.HoldEnded holdEnded =
        new SessionNotification.HoldEnded(NAME, OTHER, Reply.EndReason.EXPIRED);
    long expires = now + MINUTE;
    assertThat(storeConnection.repository.tell(holdEnded, expires)).as("it has ended").isFalse();
    assertThat(
            storeConnection.repository.tell(
                new SessionNotification.Contended(
                    NAME, new AttemptId(new SessionId("sessionEeeee"), 1)),
                0))
        .as("there is none")
        .isFalse();
    assertThat(storeConnection.repository.tell(holdEnded, expires - 1)).isTrue();
    assertThat(
            storeConnection.repository.tell(
                new SessionNotification.HoldGranted(NAME, OTHER, 7, 8, true, false), 0))
        .isTrue();
    assertThat(
            storeConnection.repository.tell(
                new SessionNotification.HoldGranted(NAME, THIRD, 7, 8, false, true), 0))
        .isTrue();
    String session = OTHER.session().value();
    Map<String, Object> goneNews =
        notifications(
            0,
            session,
            "gone",
            OTHER.encoded(),
            "token",
            0,
            "tokens",
            0,
            "flag",
            0,
            "how",
            "EXPIRED");
    Map<String, Object> grant =
        notifications(0, session, "granted", OTHER.encoded(), "token", 7, "tokens", 8);
    Map<String, Object> timed =
        with(
            grant,
            "session",
            THIRD.session().value(),
            "attempt",
            THIRD.encoded(),
            "flag",
            0,
            "timed",
            1);
    for (Map<String, Object> notifications : List.of(goneNews, grant, timed)) {
      notifications.remove("id");
    }
    assertThat(newsWithoutIds()).containsExactlyInAnyOrder(goneNews, grant, timed);

    tables.update("session_delete", "session", session);
    assertThat(storeConnection.repository.forgetOrphans(1)).isEqualTo(1);
    assertThat(storeConnection.repository.forgetOrphans(9)).isEqualTo(1);
    assertThat(newsWithoutIds()).containsExactly(timed);
  }
}
