package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The engine never ends an attempt that was refused, or only tried a lock that is held: the session
 * must not keep it. A waiter retries under the same number, and may end it then.
 */
class FailedAttemptCleanupTest {
  private static final LockName LOCK = LockName.of("x");

  private final ManualTime time = new ManualTime();
  private final List<LockStore> members =
      MemMembers.stores(EnumSet.allOf(Capability.class), time, 1_700_000_000_000_000L);
  private QuorumLockStore store;
  private QuorumSession session;

  @BeforeEach
  void open() {
    store = QuorumLockStore.over(members, MemMembers.PATIENT, QuorumRules.ALL, time);
    session = (QuorumSession) MemMembers.session(store, 1);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static Reply ask(StoreSession session, Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(request, reply::complete);
    return BoundedWait.join(reply);
  }

  private static Reply acquire(StoreSession session, long number) {
    return acquire(session, number, Mode.EXCLUSIVE);
  }

  private static Reply acquire(StoreSession session, long number, Mode mode) {
    AttemptId attempt = new AttemptId(session.id(), number);
    return ask(
        session, new Request.Acquire(LOCK, attempt, mode, false, HoldTerms.NONE, 1, 0, null));
  }

  private static Reply abandon(StoreSession session, long number) {
    return ask(session, new Request.Abandon(LOCK, new AttemptId(session.id(), number)));
  }

  /** Other sessions hold the lock in the first two members, so that the third alone grants. */
  private List<StoreSession> othersInTwoOfThree() {
    List<StoreSession> others =
        List.of(MemMembers.session(members.get(0), 2), MemMembers.session(members.get(1), 3));
    others.forEach(other -> assertThat(acquire(other, 1)).isInstanceOf(Reply.Granted.class));
    return others;
  }

  private List<LockParticipant> holdersIn(int member) {
    return BoundedWait.join(members.get(member).inspect(LockQuery.of(LOCK.value())))
        .items()
        .stream()
        .flatMap(view -> view.holders().stream())
        .toList();
  }

  private void assertNothingIsLeft() {
    assertThat(session.remembered()).as("remembered").isZero();
    for (int i = 0; i < members.size(); i++) {
      assertThat(holdersIn(i)).as("holders in member " + i).isEmpty();
    }
  }

  @Test
  void givenTakenLock_whenManyTry_thenNoneOfThemIsRemembered() {
    StoreSession other = MemMembers.session(store, 2);
    assertThat(acquire(other, 1)).isInstanceOf(Reply.Granted.class);

    for (int number = 1; number <= 100; number++) {
      assertThat(acquire(session, number)).isInstanceOf(Reply.Busy.class);
    }

    assertThat(session.remembered()).isZero();
    abandon(other, 1);
    assertThat(acquire(session, 1)).isInstanceOf(Reply.Granted.class);
    assertThat(abandon(session, 1)).isInstanceOf(Reply.Ended.class);
    assertNothingIsLeft();
  }

  @Test
  void givenLockOfOtherCapacity_whenItIsRefused_thenTheAttemptIsNotRemembered() {
    List<StoreSession> others =
        members.stream().map(member -> MemMembers.session(member, 2)).toList();
    others.forEach(
        other ->
            assertThat(acquire(other, 1, Mode.permits(1, 7))).isInstanceOf(Reply.Granted.class));

    for (int number = 1; number <= 100; number++) {
      assertThat(acquire(session, number))
          .isInstanceOfSatisfying(
              Reply.Refused.class,
              refused -> assertThat(refused.why()).isEqualTo(RefusalReason.CAPACITY_DIFFERS));
    }

    others.forEach(other -> abandon(other, 1));
    assertNothingIsLeft();
  }

  @Test
  void givenOneMemberThatGranted_whenTheOthersAreBusy_thenItIsGivenBack_andCanBeAskedForAgain() {
    List<StoreSession> others = othersInTwoOfThree();

    assertThat(acquire(session, 1)).isInstanceOf(Reply.Busy.class);
    assertThat(acquire(session, 1)).isInstanceOf(Reply.Busy.class);

    assertThat(session.remembered()).isZero();
    assertThat(holdersIn(2)).isEmpty();
    others.forEach(other -> abandon(other, 1));
    assertThat(acquire(session, 1)).isInstanceOf(Reply.Granted.class);
    assertThat(holdersIn(2)).as("a third name in that member").hasSize(1);
    assertThat(abandon(session, 1)).isInstanceOf(Reply.Ended.class);
    assertNothingIsLeft();
  }

  @Test
  void givenOneMemberThatGranted_whenTheFailedAttemptIsEnded_thenNothingIsLeft() {
    List<StoreSession> others = othersInTwoOfThree();
    assertThat(acquire(session, 1)).isInstanceOf(Reply.Busy.class);

    assertThat(abandon(session, 1)).isInstanceOf(Reply.Ended.class);

    others.forEach(other -> abandon(other, 1));
    assertNothingIsLeft();
  }

  @Test
  void givenMoreFailedTriesThanAreKept_whenTheFirstIsAskedForAgain_thenItIsToldToHaveEnded() {
    List<StoreSession> others = othersInTwoOfThree();
    for (int number = 1; number <= 100; number++) {
      assertThat(acquire(session, number)).isInstanceOf(Reply.Busy.class);
    }
    others.forEach(other -> abandon(other, 1));

    // Under its first name its end is known, or in flight.
    assertThat(acquire(session, 1))
        .isInstanceOfSatisfying(
            Reply.Refused.class,
            refused -> assertThat(refused.why()).isEqualTo(RefusalReason.ENDED));

    assertThat(abandon(session, 1)).isInstanceOf(Reply.Ended.class);
    assertNothingIsLeft();
    assertThat(acquire(session, 100)).isInstanceOf(Reply.Granted.class);
    assertThat(acquire(session, 101)).isInstanceOf(Reply.Busy.class);
  }
}
