package io.mortise.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.Leadership.CandidateState;
import io.mortise.Leadership.Change;
import io.mortise.Leadership.Term;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.testkit.TestLocks;
import io.mortise.testkit.TestLocksExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A candidate over time, which moves by hand. */
@ExtendWith(TestLocksExtension.class)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeaderCandidateTest {
  private static final String NAME = "leader/billing";
  private static final Duration BOUND = Duration.ofSeconds(20);

  /** More than the TTL of the test locks. */
  private static final Duration TTL = Duration.ofSeconds(16);

  private final List<Term> terms = new CopyOnWriteArrayList<>();
  private final AtomicInteger ended = new AtomicInteger();

  private void untilInterrupted(Term term) throws InterruptedException {
    terms.add(term);
    try {
      new CountDownLatch(1).await();
    } finally {
      ended.incrementAndGet();
    }
  }

  private static void until(Callable<Boolean> condition) {
    await().atMost(BOUND).pollInterval(Duration.ofMillis(2)).until(condition);
  }

  @Test
  void givenLeader_whenTimePasses_thenItLeadsOn(TestLocks test) {
    Leadership leader = test.client("a").leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    test.advance(Duration.ofDays(1));
    assertThat(leader.isLeader()).isTrue();
    assertThat(leader.state()).isEqualTo(CandidateState.LEADING);
    assertThat(terms).singleElement().extracting(Term::isLeading).isEqualTo(true);
    assertThat(leader.current().orElseThrow().token()).isEqualTo(terms.get(0).token());
    leader.close();
    assertThat(ended).hasValue(1);
  }

  @Test
  void givenLeaderOfAKilledProcess_whenItsTtlIsOver_thenTheNextLeads_andTheFirstHasStopped(
      TestLocks test) {
    LockClient dying = test.client("dying");
    Leadership first = dying.leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    List<Term> next = new CopyOnWriteArrayList<>();
    Leadership second =
        test.client("next")
            .leader(
                NAME,
                term -> {
                  next.add(term);
                  new CountDownLatch(1).await();
                });
    assertThat(test.waiters(NAME)).isOne();
    test.kill(dying);
    test.advance(Duration.ofSeconds(8));
    assertThat(next).isEmpty();
    test.advance(Duration.ofSeconds(8));
    until(second::isLeader);
    assertThat(first.isLeader()).isFalse();
    assertThat(terms.get(0).isLeading()).isFalse();
    until(() -> ended.get() == 1);
    until(() -> first.state() == CandidateState.CANDIDATE);
    assertThat(next.get(0).token()).isPositive();
  }

  @Test
  void givenLostLeadership_whenItLeadsAgain_thenTheOldTermStaysLost_andEachChangeIsToldOnce(
      TestLocks test) {
    List<Change> told = new CopyOnWriteArrayList<>();
    Leadership leader = test.client("a").leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    long first = terms.get(0).token();
    leader.onChange(told::add);

    assertThat(test.loseHolds(NAME)).isOne();

    until(() -> terms.size() == 2);
    long second = terms.get(1).token();
    assertThat(second).isGreaterThan(first);
    assertThat(terms.get(0).isValid()).isFalse();
    leader.close();
    until(() -> told.size() == 6);
    assertThat(told)
        .containsExactly(
            new Change(CandidateState.LEADING, first),
            new Change(CandidateState.STOPPING, first),
            new Change(CandidateState.CANDIDATE, first),
            new Change(CandidateState.LEADING, second),
            new Change(CandidateState.STOPPING, second),
            new Change(CandidateState.CLOSED, 0));
  }

  @Test
  void givenTaskThatIgnoresALoss_thenItsCandidateStandsAgainOnlyWhenItHasEnded(TestLocks test)
      throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Leadership leader =
        test.client("a")
            .leader(
                NAME,
                term -> {
                  terms.add(term);
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  boolean waiting = true;
                  while (waiting) {
                    try {
                      end.await();
                      waiting = false;
                    } catch (InterruptedException e) {
                      waiting = true;
                    }
                  }
                  running.decrementAndGet();
                });
    until(() -> terms.size() == 1);
    test.loseHolds(NAME);
    test.advance(TTL);
    assertThat(leader.state()).isEqualTo(CandidateState.STOPPING);
    assertThat(leader.isLeader()).isFalse();
    assertThat(terms).hasSize(1);
    assertThat(test.waiters(NAME)).isZero();
    // Another candidate may lead meanwhile.
    Lease other = test.holdElsewhere(NAME);
    end.countDown();
    until(() -> test.waiters(NAME) == 1);
    other.close();
    until(() -> terms.size() == 2);
    assertThat(most).hasValue(1);
    leader.close();
  }

  @Test
  void givenTaskThatThrows_thenItIsKept_andThePausesDouble(TestLocks test) {
    AtomicInteger runs = new AtomicInteger();
    Leadership leader =
        test.client("a")
            .leader(
                NAME,
                term -> {
                  throw new IllegalStateException("run " + runs.incrementAndGet());
                });
    until(() -> runs.get() == 1 && leader.state() == CandidateState.CANDIDATE);
    assertThat(leader.lastFailure()).get().extracting(Throwable::getMessage).isEqualTo("run 1");
    // Jitter shortens a pause by a tenth at most.
    test.advance(Duration.ofMillis(80));
    assertThat(runs).hasValue(1);
    test.advance(Duration.ofMillis(20));
    until(() -> runs.get() == 2 && leader.state() == CandidateState.CANDIDATE);
    test.advance(Duration.ofMillis(170));
    assertThat(runs).hasValue(2);
    test.advance(Duration.ofMillis(30));
    until(() -> runs.get() == 3 && leader.state() == CandidateState.CANDIDATE);
    leader.close();
    assertThat(leader.state()).isEqualTo(CandidateState.CLOSED);
    assertThat(test.waiters(NAME)).isZero();
  }

  @Test
  void givenTaskThatThrowsAnError_thenTheCandidateStandsAgain(TestLocks test) {
    Leadership leader =
        test.client("a")
            .leader(
                NAME,
                term -> {
                  terms.add(term);
                  throw new AssertionError("on purpose");
                });
    until(() -> leader.lastFailure().isPresent() && leader.state() == CandidateState.CANDIDATE);
    assertThat(leader.lastFailure()).get().isInstanceOf(AssertionError.class);
    test.advance(Duration.ofSeconds(1));
    until(() -> terms.size() >= 2);
    leader.close();
  }

  @Test
  void givenMinimumTerm_whenTheTaskReturnsSooner_thenTheLockIsKeptForThatTime(TestLocks test) {
    LeaderOptions steady = LeaderOptions.DEFAULTS.withMinimumTerm(Duration.ofSeconds(60));
    Leadership leader = test.client("a").leader(NAME, steady, terms::add);
    until(() -> terms.size() == 1 && leader.state() == CandidateState.STOPPING);
    test.advance(Duration.ofSeconds(59));
    assertThat(leader.current()).isPresent();
    assertThat(leader.isLeader()).isFalse();
    test.advance(Duration.ofSeconds(1));
    assertThat(leader.current()).isEmpty();
    assertThat(leader.state()).isEqualTo(CandidateState.CANDIDATE);
    leader.close();
  }

  @Test
  void givenMinimumTerm_whenItStepsDownSooner_thenTheTaskGoesOnUntilThen(TestLocks test) {
    LeaderOptions steady = LeaderOptions.DEFAULTS.withMinimumTerm(Duration.ofSeconds(60));
    Leadership leader = test.client("a").leader(NAME, steady, this::untilInterrupted);
    until(() -> terms.size() == 1);
    CompletableFuture<Lease> next = test.client("b").lock(NAME).acquireAsync();
    leader.stepDown();
    leader.stepDown();
    test.advance(Duration.ofSeconds(59));
    assertThat(leader.isLeader()).isTrue();
    assertThat(next).isNotDone();
    test.advance(Duration.ofSeconds(1));
    until(next::isDone);
    assertThat(ended).hasValue(1);
    until(() -> test.waiters(NAME) == 1);
    next.join().close();
    until(() -> terms.size() == 2);
    // The minimum of the first term says nothing about the second.
    assertThat(leader.isLeader()).isTrue();
    leader.close();
  }

  @Test
  void givenMinimumTerm_whenItIsClosedSooner_thenItDoesNotWait(TestLocks test) throws Exception {
    LeaderOptions steady = LeaderOptions.DEFAULTS.withMinimumTerm(Duration.ofDays(1));
    Leadership running = test.client("a").leader(NAME, steady, this::untilInterrupted);
    until(() -> terms.size() == 1);
    running.close();
    assertThat(running.state()).isEqualTo(CandidateState.CLOSED);
    Leadership resting = test.client("b").leader(NAME, steady, terms::add);
    until(() -> terms.size() == 2 && resting.state() == CandidateState.STOPPING);
    resting.close();
    assertThat(resting.state()).isEqualTo(CandidateState.CLOSED);
    test.holdElsewhere(NAME).close();
  }

  @Test
  void givenMinimumTerm_whenTheLeadershipIsLostWhileItRests_thenItStandsAgainAtOnce(
      TestLocks test) {
    LeaderOptions steady = LeaderOptions.DEFAULTS.withMinimumTerm(Duration.ofDays(1));
    Leadership leader = test.client("a").leader(NAME, steady, terms::add);
    until(() -> terms.size() == 1 && leader.state() == CandidateState.STOPPING);
    test.loseHolds(NAME);
    until(() -> terms.size() == 2);
    leader.close();
  }

  @Test
  void givenTaskThatClosesItsCandidate_thenItDoesNotWaitForItself(TestLocks test) throws Exception {
    CompletableFuture<Leadership> self = new CompletableFuture<>();
    Leadership leader =
        test.client("a")
            .leader(
                NAME,
                term -> {
                  self.join().close();
                  terms.add(term);
                });
    self.complete(leader);
    until(() -> leader.state() == CandidateState.CLOSED);
    assertThat(terms).singleElement().extracting(Term::isLeading).isEqualTo(false);
    test.holdElsewhere(NAME).close();
  }

  @Test
  void givenTaskThatClosesItsClient_thenItDoesNotWaitForItself(TestLocks test) throws Exception {
    LockClient client = test.client("a");
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    Leadership leader =
        client.leader(
            NAME,
            term -> {
              client.close();
              done.complete(term.isValid());
            });
    assertThat(done.get(20, TimeUnit.SECONDS)).isFalse();
    until(() -> leader.state() == CandidateState.CLOSED);
    test.holdElsewhere(NAME).close();
  }

  @Test
  void givenInterruptedThread_whenItCloses_thenItDoesNotWait_andTheTaskEndsAllTheSame(
      TestLocks test) {
    Leadership leader = test.client("a").leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    Thread.currentThread().interrupt();
    leader.close();
    assertThat(Thread.interrupted()).isTrue();
    until(() -> leader.state() == CandidateState.CLOSED);
    leader.close();
    assertThat(ended).hasValue(1);
  }

  @Test
  void givenWaitingCandidate_whenItIsClosed_thenNothingOfItStaysInTheQueue(TestLocks test) {
    Lease other = test.holdElsewhere(NAME);
    Leadership waiting = test.client("a").leader(NAME, this::untilInterrupted);
    assertThat(test.waiters(NAME)).isOne();
    waiting.close();
    waiting.close();
    assertThat(waiting.state()).isEqualTo(CandidateState.CLOSED);
    assertThat(test.waiters(NAME)).isZero();
    other.close();
    assertThat(terms).isEmpty();
    waiting.stepDown();
  }

  @Test
  void givenStoppedStore_whenTheTtlIsOver_thenNobodyLeads_andTheLeaderReturnsWithTheStore(
      TestLocks test) {
    Leadership leader = test.client("a").leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    test.stopStore();
    test.advance(TTL);
    until(() -> ended.get() == 1);
    assertThat(leader.isLeader()).isFalse();
    test.startStore();
    until(
        () -> {
          test.advance(Duration.ofSeconds(1));
          return terms.size() == 2;
        });
    assertThat(leader.isLeader()).isTrue();
    leader.close();
  }

  @Test
  void givenListenersThatThrow_thenOthersAreToldAllTheSame(TestLocks test) {
    Lease other = test.holdElsewhere(NAME);
    List<Change> told = new CopyOnWriteArrayList<>();
    Leadership leader = test.client("a").leader(NAME, this::untilInterrupted);
    leader.onChange(
        change -> {
          throw new IllegalStateException("on purpose");
        });
    leader.onChange(
        change -> {
          throw new AssertionError("on purpose");
        });
    leader.onChange(told::add);
    until(() -> told.size() == 1);
    assertThat(told).containsExactly(new Change(CandidateState.CANDIDATE, 0));
    other.close();
    until(() -> told.size() == 2);
    leader.close();
  }

  @Test
  void givenTwoCandidatesOfOneClient_thenOneLeadsAfterTheOther(TestLocks test) {
    LockClient client = test.client("a");
    Leadership first = client.leader(NAME, this::untilInterrupted);
    until(() -> terms.size() == 1);
    Leadership second = client.leader(NAME, this::untilInterrupted);
    assertThat(second.isLeader()).isFalse();
    first.close();
    until(second::isLeader);
    assertThat(first.isLeader()).isFalse();
    second.close();
  }

  @Test
  void givenArgumentsThatMakeNoSense_thenTheyAreRefused(TestLocks test) {
    LockClient client = test.client("a");
    assertThatThrownBy(() -> client.leader("", terms::add))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeaderOptions.DEFAULTS.withMinimumTerm(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeaderOptions.DEFAULTS.withCloseTimeout(Duration.ofDays(4000)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeaderOptions.DEFAULTS.withLabel("x".repeat(101)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
