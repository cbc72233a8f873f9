package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.LeaderOptions;
import io.mortise.Leadership;
import io.mortise.Leadership.CandidateState;
import io.mortise.Leadership.Term;
import io.mortise.LeaseLostException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockParticipant;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Leadership over processes: one leads at a time, and another follows. */
class LeaderSuite extends ClientSuite {
  private static final String NAME = "leader/billing";

  LeaderSuite(StoreUnderTest under) {
    super(under);
  }

  /** A candidate with the terms that it led. */
  private static final class Candidate {
    final List<Term> terms = new CopyOnWriteArrayList<>();
    final AtomicInteger active;
    final Leadership leadership;

    /** Counts tasks that run with valid leadership. */
    Candidate(Peer process, AtomicInteger active) {
      this.active = active;
      this.leadership = process.client().leader(NAME, this::lead);
    }

    private void lead(Term term) throws InterruptedException {
      active.incrementAndGet();
      terms.add(term);
      try {
        new CountDownLatch(1).await();
      } finally {
        active.decrementAndGet();
      }
    }

    void awaitTerm(int number) {
      BoundedWait.until(
          LONG, "it led " + number + " times", () -> terms.size() >= number && isActive(number));
    }

    private boolean isActive(int number) {
      return leadership.isLeader() || terms.size() > number;
    }
  }

  @Test
  void givenCandidates_whenTheLeaderIsClosed_thenAnotherFollows() throws Exception {
    AtomicInteger active = new AtomicInteger();
    Candidate a = new Candidate(peer("a"), active);
    a.awaitTerm(1);
    Candidate b = new Candidate(peer("b"), active);
    if (can(Capability.QUEUE)) {
      awaitWaiters(NAME, 1);
    }
    assertThat(b.leadership.isLeader()).isFalse();
    assertThat(b.leadership.state()).isEqualTo(CandidateState.CANDIDATE);
    assertThat(active).hasValue(1);

    a.leadership.close();

    b.awaitTerm(1);
    assertThat(a.leadership.state()).isEqualTo(CandidateState.CLOSED);
    assertThat(a.terms.get(0).isValid()).as("a term that is over").isFalse();
    assertThat(active).hasValue(1);
    if (can(Capability.TOKEN)) {
      assertThat(b.terms.get(0).fencingToken().value())
          .isEqualTo(b.terms.get(0).token())
          .isGreaterThan(0);
    }
    b.leadership.close();
    assertThat(b.leadership.current()).isEmpty();
    assertNothingLeft(NAME);
  }

  @Test
  void givenLeader_thenEveryCandidateSeesWhoItIs() throws Exception {
    Peer a = peer("worker-7");
    CountDownLatch end = new CountDownLatch(1);
    try (Leadership leader =
            a.client().leader(NAME, LeaderOptions.DEFAULTS.withLabel("on call"), l -> end.await());
        Leadership other = peer("b").client().leader(NAME, l -> end.await())) {
      BoundedWait.until(LONG, "somebody led", () -> leader.isLeader() || other.isLeader());
      BoundedWait.until(
          LONG,
          "both see the same leader",
          () -> attempt(other).isPresent() && attempt(other).equals(attempt(leader)));
      LockParticipant seen = other.current().orElseThrow();
      if (can(Capability.SESSION) && leader.isLeader()) {
        assertThat(seen.label()).isEqualTo("on call");
        assertThat(seen.client()).isNotNull().extracting("name").isEqualTo("worker-7");
      }
    }
    assertNothingLeft(NAME);
  }

  private static Optional<String> attempt(Leadership candidate) {
    return candidate.current().map(LockParticipant::attempt);
  }

  @Test
  @RerunIfPaused
  void givenLeaderThatIsCutOff_whenAnotherFollows_thenTheFirstDoesNotBelieveAnyMore()
      throws Exception {
    needs(Capability.SESSION);
    AtomicInteger active = new AtomicInteger();
    Peer first = mortal("a");
    Candidate a = new Candidate(first, active);
    a.awaitTerm(1);
    Candidate b = new Candidate(mortal("b"), active);
    if (can(Capability.QUEUE)) {
      awaitWaiters(NAME, 1);
    }
    first.link().set(StoreLink.LinkState.CUT);

    BoundedWait.until(LONG, "the other led", () -> !b.terms.isEmpty());

    assertThat(a.terms.get(0).isValid()).as("when the next leads").isFalse();
    assertThat(a.terms.get(0).isLeading()).isFalse();
    assertThat(a.leadership.isLeader()).isFalse();
    BoundedWait.until(LONG, "the first has stopped", () -> active.get() == 1);
    assertThatThrownBy(a.terms.get(0)::ensureValid).isInstanceOf(LeaseLostException.class);
    first.link().set(StoreLink.LinkState.UP);
    b.leadership.close();
    a.awaitTerm(2);
    assertThat(a.terms.get(0).isValid()).as("the term before").isFalse();
    a.leadership.close();
    assertNothingLeft(NAME);
  }

  @Test
  void givenLeader_whenItStepsDown_thenAnotherLeads_andTheFirstStandsAgain() throws Exception {
    AtomicInteger active = new AtomicInteger();
    Candidate a = new Candidate(peer("a"), active);
    a.awaitTerm(1);
    Candidate b = new Candidate(peer("b"), active);
    if (can(Capability.QUEUE)) {
      awaitWaiters(NAME, 1);
      a.leadership.stepDown();
      b.awaitTerm(1);
      awaitWaiters(NAME, 1);
    } else {
      // A waiter that polls may have to wait for its turn.
      BoundedWait.until(
          LONG,
          "the other led",
          () -> {
            a.leadership.stepDown();
            return !b.terms.isEmpty();
          });
    }
    b.leadership.close();
    a.awaitTerm(2);
    a.leadership.close();
    assertThat(active).hasValue(0);
    assertNothingLeft(NAME);
  }

  @Test
  void givenLeader_whenAnOperatorEvictsIt_thenItStopsAndLeadsAgainInANewTerm() throws Exception {
    needs(Capability.EVICT);
    Peer operator = peer("operator");
    Candidate a = new Candidate(peer("a"), new AtomicInteger());
    a.awaitTerm(1);
    long before = can(Capability.TOKEN) ? a.terms.get(0).token() : 0;
    String attempt = a.leadership.current().orElseThrow().attempt();

    var unused = operator.client().admin().evict(NAME, attempt, Eviction.CLOSE);

    a.awaitTerm(2);
    assertThat(a.terms.get(0).isValid()).isFalse();
    if (can(Capability.TOKEN)) {
      assertThat(a.terms.get(1).token()).isGreaterThan(before);
    }
    a.leadership.close();
    assertNothingLeft(NAME);
  }

  @Test
  void givenTaskThatDoesNotEnd_whenItsCandidateIsClosed_thenNobodyFollowsBeforeItHasEnded()
      throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch began = new CountDownLatch(1);
    LeaderOptions impatient = LeaderOptions.DEFAULTS.withCloseTimeout(BRIEF);
    Leadership deaf =
        peer("a")
            .client()
            .leader(
                NAME,
                impatient,
                term -> {
                  began.countDown();
                  while (end.getCount() > 0) {
                    awaitDeaf(end);
                  }
                });
    assertThat(began.await(20, TimeUnit.SECONDS)).isTrue();
    Candidate b = new Candidate(peer("b"), new AtomicInteger());
    if (can(Capability.QUEUE)) {
      awaitWaiters(NAME, 1);
    }

    deaf.close();

    assertThat(deaf.state()).isEqualTo(CandidateState.STOPPING);
    assertThat(deaf.isLeader()).isFalse();
    assertThat(holders(NAME)).hasSize(1);
    assertThat(b.terms).isEmpty();
    end.countDown();
    b.awaitTerm(1);
    BoundedWait.until(LONG, "it is closed", () -> deaf.state() == CandidateState.CLOSED);
    b.leadership.close();
    assertNothingLeft(NAME);
  }

  private static void awaitDeaf(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      return; // it does not listen
    }
  }

  @Test
  void givenLeader_whenItsClientIsClosed_thenItsTaskEndsFirst_andTheLockIsFree() throws Exception {
    Peer a = peer("a");
    Candidate leader = new Candidate(a, new AtomicInteger());
    leader.awaitTerm(1);
    Candidate waiting = new Candidate(a, new AtomicInteger());
    a.client().close();
    assertThat(leader.active).hasValue(0);
    BoundedWait.until(
        LONG,
        "both are closed",
        () ->
            leader.leadership.state() == CandidateState.CLOSED
                && waiting.leadership.state() == CandidateState.CLOSED);
    assertThat(isFree(peer("b").client().lock(NAME))).isTrue();
    assertThatThrownBy(() -> a.client().leader(NAME, term -> {}))
        .isInstanceOf(IllegalStateException.class);
    assertNothingLeft(NAME);
  }
}
