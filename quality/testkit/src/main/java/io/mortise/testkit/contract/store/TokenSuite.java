package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tokens rise, whatever ends a hold. */
@Tag("tokens-rise")
class TokenSuite extends StoreSuite {
  /** The tag of tests that disturb other tests on the server. */
  private static final String RESTARTS_STORE = "alone";

  TokenSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsTokens() {
    needs(Capability.TOKEN);
  }

  private static Request.Acquire block(
      AttemptId attempt, int tokens, long floor, @Nullable SessionId dead) {
    return new Request.Acquire(LOCK, attempt, EX, false, HoldTerms.NONE, tokens, floor, dead);
  }

  private static long last(Reply.Granted grant) {
    return grant.token() + grant.tokens() - 1;
  }

  @Test
  void givenManyHoldsOneAfterTheOther_thenBlocksOfTokensRiseAndDoNotOverlap() {
    List<SessionDriver> sessions = List.of(session("a"), session("b"));
    int[] sizes = {1, 2, 64, 1000, Request.MAX_TOKENS, 1};
    long last = 0;
    for (int i = 0; i < 240; i++) {
      SessionDriver session = sessions.get(i % 2);
      int size = sizes[i % sizes.length];
      AttemptId attempt = session.attempt();
      Reply.Granted grant = granted(session.ask(block(attempt, size, 0, null)));
      assertThat(grant.token()).isGreaterThan(last);
      assertThat(grant.tokens()).isBetween(1, size);
      last = last(grant);
      session.end(LOCK, attempt);
    }
    if (records()) {
      assertThat(look(LOCK).orElseThrow().lastToken()).isEqualTo(last);
    }
  }

  @Test
  void givenBlocksTakenInARow_thenTheyRunAheadOfTheStoresClockByOneSecondAtMost() {
    SessionDriver a = session("a");
    for (int i = 0; i < 100; i++) {
      AttemptId attempt = a.attempt();
      Reply.Granted grant = granted(a.ask(block(attempt, Request.MAX_TOKENS, 0, null)));
      a.end(LOCK, attempt);
      long now = renewed(a.renew()).storeMicros();
      // Other tokens do not come from a clock: a transaction number, a revision.
      boolean isClock =
          grant.token() > 1_000_000_000_000_000L && grant.token() < 10_000_000_000_000_000L;
      if (now > 0 && isClock) {
        assertThat(last(grant)).isLessThanOrEqualTo(now + 1_000_000);
        assertThat(grant.token())
            .as("of the clock that a renewal tells")
            .isGreaterThan(now - 60_000_000);
      }
    }
  }

  @Test
  void givenManyBlocksWithinOneSecond_thenTheyShrink_andStillRise() {
    needs(Capability.TOKEN_FLOOR);
    SessionDriver a = session("a");
    AttemptId first = a.attempt();
    long far = granted(a.ask(block(first, 1, 0, null))).token() + 5_000_000;
    a.end(LOCK, first);
    long last = far - 1;
    for (int i = 0; i < 5; i++) {
      AttemptId attempt = a.attempt();
      Reply.Granted grant = granted(a.ask(block(attempt, 1024, far, null)));
      assertThat(grant.token()).isEqualTo(last + 1);
      assertThat(grant.tokens()).as("the counter is seconds ahead of the clock").isEqualTo(1);
      last = last(grant);
      a.end(LOCK, attempt);
    }
  }

  @Test
  void givenFloor_thenTheTokenIsNotBelowIt_andLaterOnesAreAboveIt() {
    needs(Capability.TOKEN_FLOOR);
    SessionDriver a = session("a");
    AttemptId first = a.attempt();
    long token = granted(a.ask(block(first, 1, 0, null))).token();
    a.end(LOCK, first);
    AttemptId second = a.attempt();
    Reply.Granted floored = granted(a.ask(block(second, 1, token + 1_000_000_000_000L, null)));
    assertThat(floored.token()).isGreaterThanOrEqualTo(token + 1_000_000_000_000L);
    a.end(LOCK, second);
    assertThat(a.hold(LOCK, EX).token()).isGreaterThan(floored.token());
  }

  @Test
  void givenFloorBelowTheCounter_thenTheTokenRisesAllTheSame() {
    needs(Capability.TOKEN_FLOOR);
    SessionDriver a = session("a");
    Reply.Granted first = a.hold(LOCK, EX);
    a.end(LOCK, first.attempt());
    assertThat(granted(a.ask(block(a.attempt(), 1, 5, null))).token()).isGreaterThan(first.token());
  }

  @Test
  @RerunIfPaused
  void givenHolderThatExpired_whenItIsTakenOver_thenTheTokenRises() {
    SessionDriver a = shortSession("a");
    SessionDriver b = session("b");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 1024, 0, null)));
    outliveSession();
    judge(a);
    Reply.Granted second = granted(b.ask(block(b.attempt(), 1, 0, a.id())));
    assertThat(second.token()).isGreaterThan(last(first));
  }

  @Test
  void givenHandOff_thenTheTokenRises_andNewsAndPollTellTheSame() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 100, 0, null)));
    AttemptId waiter = b.attempt();
    queued(b.ask(new Request.Acquire(LOCK, waiter, EX, true, HoldTerms.NONE, 10, 0, null)));
    a.end(LOCK, first.attempt());
    SessionNotification.HoldGranted notifications =
        only(SessionNotification.HoldGranted.class, b.notifications()).get(0);
    Reply.Granted poll = granted(b.enqueue(LOCK, waiter, EX));
    assertThat(poll.token()).isEqualTo(notifications.token()).isGreaterThan(last(first));
    assertThat(poll.tokens()).isEqualTo(notifications.tokens()).isBetween(1, 10);
  }

  @Test
  void givenEvictedHold_thenTheNextTokenIsGreater() {
    needs(Capability.EVICT);
    SessionDriver a = session("a");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 1024, 0, null)));
    BoundedWait.join(store().evict(LOCK, first.attempt(), Eviction.BREAK));
    assertThat(session("b").hold(LOCK, EX).token()).isGreaterThan(last(first));
  }

  @Test
  void givenHoldThatAsksForAFreshBlock_thenItIsAboveTheOld_andTheNextHolderAboveBoth() {
    SessionDriver a = session("a");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 100, 0, null)));
    Reply.Granted fresh = granted(a.adjust(LOCK, first.attempt(), EX, HoldTerms.NONE, 50));
    assertThat(fresh.token()).isGreaterThan(last(first));
    assertThat(fresh.tokens()).isBetween(1, 50);
    Reply.Granted same = granted(a.adjust(LOCK, first.attempt(), EX, HoldTerms.NONE, 0));
    assertThat(same.token()).isEqualTo(fresh.token());
    a.end(LOCK, first.attempt());
    assertThat(session("b").hold(LOCK, EX).token()).isGreaterThan(last(fresh));
  }

  @Test
  void givenHoldThatAsksForAFreshBlockFromAFloorOn_thenItIsNotBelowThat_norBelowTheOld() {
    needs(Capability.TOKEN_FLOOR);
    SessionDriver a = session("a");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 1, 0, null)));
    AttemptId attempt = first.attempt();
    long floor = first.token() + 1_000_000_000_000L;
    Reply.Granted far =
        granted(a.ask(new Request.Adjust(LOCK, attempt, EX, HoldTerms.NONE, 10, floor)));
    assertThat(far.token()).isGreaterThanOrEqualTo(floor);
    Reply.Granted again =
        granted(a.ask(new Request.Adjust(LOCK, attempt, EX, HoldTerms.NONE, 10, floor)));
    assertThat(again.token()).isGreaterThan(last(far));
    a.end(LOCK, attempt);
    assertThat(session("b").hold(LOCK, EX).token()).isGreaterThan(last(again));
  }

  @Test
  @Tag(RESTARTS_STORE)
  void givenStoreThatIsRestarted_thenTokensRise_andWhatWasHeldIsHeldOrLostButNeverTwice() {
    SessionDriver a = session("a");
    Reply.Granted first = granted(a.ask(block(a.attempt(), 1024, 0, null)));
    a.end(LOCK, first.attempt());
    AttemptId held = a.hold(OTHER, EX).attempt();
    Optional<LockStore> restarted = under.restart(store());
    Assumptions.assumeTrue(restarted.isPresent(), "the store cannot be restarted");
    opened = restarted.orElseThrow();
    SessionDriver b = session("b");
    assertThat(b.hold(LOCK, EX).token()).isGreaterThan(last(first));
    if (b.acquire(OTHER, b.attempt(), EX) instanceof Reply.Busy busy) {
      assertThat(inTheWay(busy).attempt()).isEqualTo(held);
    }
  }
}
