package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * Three rules of votes whose absence random worlds hardly ever notice, since it takes a rare
 * coincidence: each with the rule, and without it.
 */
class VoteRulesTest {
  private static final Duration TTL = Duration.ofMinutes(1);

  private final ManualTime time = new ManualTime();
  private final Deque<Runnable> tasks = new ArrayDeque<>();

  private LockStore member() {
    return member(tasks);
  }

  private LockStore member(Deque<Runnable> tasks) {
    MemStore store =
        new MemStore(EnumSet.allOf(Capability.class), time, 1_700_000_000_000_000L, TableRules.ALL);
    return new AsyncMember(store, tasks::add);
  }

  private static SessionSpec session() {
    return new SessionSpec(
        SessionId.random(new Random(1)), TTL, new ClientLabel("host", 1, "votes"));
  }

  private MemberSession renewed(int index) {
    Member member = new Member(index, "m" + index, null);
    member.opened(member(), time.nanos());
    MemberSession session =
        new MemberSession(member, session(), (from, notifications) -> {}, () -> {});
    session.renewed(time.nanos());
    return session;
  }

  private OptionalLong countedFromAfterARepair(QuorumRules rules) {
    MemberSession first = renewed(0);
    MemberSession second = renewed(1);
    VoteSet votes = new VoteSet(new MemberSession[] {first, second, null}, 2, rules);
    assertThat(votes.countedFrom()).hasValue(time.nanos());
    second.lose();
    assertThat(votes.countedFrom()).isEmpty();
    votes.add(renewed(2), time.nanos() - TTL.toNanos() / 2);
    return votes.countedFrom();
  }

  @Test
  void givenHoldWithTooFewVotes_whenAnotherMemberGrants_thenItStaysLost() {
    assertThat(countedFromAfterARepair(QuorumRules.ALL)).isEmpty();
    QuorumRules repairs =
        new QuorumRules() {
          @Override
          boolean repairsOnlyValidHolds() {
            return false;
          }
        };
    assertThat(countedFromAfterARepair(repairs)).hasValue(time.nanos());
  }

  private void runAll() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private static Request acquire(StoreSession session) {
    AttemptId attempt = new AttemptId(session.id(), 1);
    return new Request.Acquire(
        LockName.of("x"), attempt, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, null);
  }

  /** How many requests are sent to a member before it has answered the first renewal. */
  private int askedBeforeItTold(QuorumRules rules) {
    Deque<Runnable> silent = new ArrayDeque<>();
    List<LockStore> members = List.of(member(), member(), member(silent));
    try (LockStore store = QuorumLockStore.over(members, MemMembers.PATIENT, rules, time)) {
      StoreSession session = store.open(session(), notifications -> {});
      var unused = session.renew(0, 1, List.of());
      runAll();
      int renewals = silent.size();
      session.submit(acquire(session), reply -> {});
      return silent.size() - renewals;
    } finally {
      tasks.clear();
    }
  }

  /** It may be empty, and the answer in flight may say so. */
  @Test
  void givenMemberThatHasNotToldWhatItRemembersWith_thenItIsNotAsked() {
    assertThat(askedBeforeItTold(QuorumRules.ALL)).isZero();
    QuorumRules asksAtOnce =
        new QuorumRules() {
          @Override
          boolean waitsForIncarnation() {
            return false;
          }
        };
    assertThat(askedBeforeItTold(asksAtOnce)).isEqualTo(1);
  }

  /** How much later than its sending a renewal counts that was answered after five seconds. */
  private Duration countedAfterSending(QuorumRules rules) {
    List<LockStore> members = List.of(member(), member(), member());
    try (LockStore store = QuorumLockStore.over(members, MemMembers.PATIENT, rules, time)) {
      StoreSession session = store.open(session(), notifications -> {});
      long sent = time.nanos();
      CompletionStage<Renewal> renewal = session.renew(0, 1, List.of());
      time.advance(Duration.ofSeconds(5));
      runAll();
      assertThat(BoundedWait.join(renewal)).isInstanceOf(Renewal.Renewed.class);
      List<Reply> replies = new ArrayList<>();
      session.submit(acquire(session), replies::add);
      runAll();
      Reply.Granted granted = (Reply.Granted) replies.get(0);
      return Duration.ofNanos(
          Objects.requireNonNull(granted.votes()).countedFrom().orElseThrow() - sent);
    }
  }

  @Test
  void givenRenewalThatIsAnsweredLate_thenVotesCountFromWhenItWasSent() {
    assertThat(countedAfterSending(QuorumRules.ALL)).isZero();
    QuorumRules fromTheAnswer =
        new QuorumRules() {
          @Override
          long countsFrom(long sentAt, long answeredAt) {
            return answeredAt;
          }
        };
    assertThat(countedAfterSending(fromTheAnswer)).isEqualTo(Duration.ofSeconds(5));
  }

  /** It has waited for a slow member, which answered the next renewal first. */
  @Test
  void givenRenewalThatEndsAfterTheNext_thenTheSessionGoesOnFromTheNext() {
    Deque<Runnable> slow = new ArrayDeque<>();
    List<LockStore> members = List.of(member(), member(), member(slow));
    try (LockStore store =
        QuorumLockStore.over(members, MemMembers.PATIENT, QuorumRules.ALL, time)) {
      StoreSession session = store.open(session(), notifications -> {});
      CompletionStage<Renewal> first = session.renew(0, 1, List.of());
      runAll();
      CompletionStage<Renewal> second = session.renew(1, 2, List.of());
      runAll();
      assertThat(slow).hasSize(2);
      slow.removeLast().run();
      assertThat(BoundedWait.join(second)).isInstanceOf(Renewal.Renewed.class);
      slow.remove().run();
      assertThat(BoundedWait.join(first)).isInstanceOf(Renewal.Renewed.class);

      CompletionStage<Renewal> third = session.renew(2, 3, List.of());
      runAll();
      while (!slow.isEmpty()) {
        slow.remove().run();
      }
      assertThat(BoundedWait.join(third)).isInstanceOf(Renewal.Renewed.class);
    }
  }
}
