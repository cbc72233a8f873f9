package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Notifications are repeated in order until acknowledged; a push is only a hint. */
class NotificationSuite extends StoreSuite {
  NotificationSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsSessions() {
    needs(Capability.SESSION);
  }

  @Test
  void givenContenders_thenTheHolderIsToldOnceThatItIsWanted() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId attempt = a.hold(LOCK, EX).attempt();
    assertThat(a.notifications()).isEmpty();
    for (int i = 0; i < 3; i++) {
      busy(b.acquire(LOCK, b.attempt(), EX));
    }
    assertThat(a.notifications()).containsExactly(new SessionNotification.Contended(LOCK, attempt));
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(a.notifications()).isEmpty();
  }

  @Test
  void givenContender_whenTheHolderAsksAgain_thenTheAnswerSaysWanted() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    Reply.Granted hold = a.hold(LOCK, EX);
    assertThat(hold.wanted()).isFalse();
    assertThat(granted(a.acquire(LOCK, hold.attempt(), EX)).wanted()).isFalse();
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(granted(a.acquire(LOCK, hold.attempt(), EX)).wanted()).isTrue();
  }

  @Test
  void givenNextHold_whenItIsWanted_thenItsOwnerIsToldAnew() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    busy(b.acquire(LOCK, b.attempt(), EX));
    a.end(LOCK, first);
    AttemptId second = a.hold(LOCK, EX).attempt();
    busy(b.acquire(LOCK, b.attempt(), EX));
    assertThat(a.notifications()).containsExactly(new SessionNotification.Contended(LOCK, second));
  }

  @Test
  void givenHoldThatIsWanted_whenItIsReleased_thenThatIsNoNewsAnyMore() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId other = a.hold(OTHER, EX).attempt();
    busy(b.acquire(OTHER, b.attempt(), EX));
    busy(b.acquire(LOCK, b.attempt(), EX));
    a.end(LOCK, first);
    a.end(LOCK, first);
    assertThat(a.notifications()).containsExactly(new SessionNotification.Contended(OTHER, other));
  }

  @Test
  void givenHandOff_whenTheHoldIsReleased_thenTheGrantIsNoNewsAnyMore() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    // To the last in the queue, to one with waiters behind it, and to one that meets contenders
    // later.
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId second = b.queued(LOCK, EX);
    a.end(LOCK, first);
    b.end(LOCK, second);
    assertThat(b.notifications()).isEmpty();

    first = a.hold(LOCK, EX).attempt();
    second = b.queued(LOCK, EX);
    AttemptId third = c.queued(LOCK, EX);
    a.end(LOCK, first);
    b.end(LOCK, second);
    busy(a.acquire(LOCK, a.attempt(), EX));
    c.end(LOCK, third);
    assertThat(b.notifications()).isEmpty();
    assertThat(c.notifications()).isEmpty();
    assertThat(a.notifications()).isEmpty();
  }

  @Test
  void givenHandOffThatIsKnown_whenTheHoldIsWantedLater_thenThatIsNews() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId second = b.queued(LOCK, EX);
    a.end(LOCK, first);
    assertThat(b.notifications()).extracting(SessionNotification::attempt).containsExactly(second);
    busy(a.acquire(LOCK, a.attempt(), EX));
    assertThat(b.notifications()).containsExactly(new SessionNotification.Contended(LOCK, second));
    b.end(LOCK, second);
    assertThat(b.notifications()).isEmpty();
  }

  @Test
  void givenReadersThatWereHandedTheLock_whenOneReleases_thenTheOthersAreStillNews() {
    needs(Capability.QUEUE, Capability.SHARED);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId writer = a.hold(LOCK, EX).attempt();
    AttemptId first = b.queued(LOCK, SH);
    AttemptId second = b.queued(LOCK, SH);
    a.end(LOCK, writer);
    busy(a.acquire(LOCK, a.attempt(), EX));
    b.end(LOCK, first);
    // Granted and then wanted, or granted as wanted already.
    assertThat(b.notifications())
        .isNotEmpty()
        .extracting(SessionNotification::attempt)
        .containsOnly(second);
  }

  @Test
  void givenHandOff_whenTheHoldExpires_thenItsEndIsTheOnlyNews() {
    needs(Capability.QUEUE, Capability.AT_MOST);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    AttemptId second = b.attempt();
    queued(b.ask(timed(LOCK, second, true, atMost(shortTtl()))));
    a.end(LOCK, first);
    outlive(shortTtl());
    a.hold(LOCK, EX);
    assertThat(b.notifications())
        .containsExactly(new SessionNotification.HoldEnded(LOCK, second, EndReason.EXPIRED));
  }

  @Test
  void givenMuchNews_whenAHoldHasGone_thenThatIsToldFirst() {
    needs(Capability.EVICT);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    manyAreWanted(a, b, 100);
    AttemptId gone = a.hold(LOCK, EX).attempt();
    BoundedWait.join(store().evict(LOCK, gone, Eviction.CLOSE));
    a.hold(OTHER, EX);
    busy(b.acquire(OTHER, b.attempt(), EX));

    Renewal.Renewed renewed = renewed(a.renew());

    assertThat(renewed.more()).isTrue();
    assertThat(renewed.notifications().get(0).notification())
        .isEqualTo(new SessionNotification.HoldEnded(LOCK, gone, EndReason.EVICTED));
    assertThat(renewed.notifications().get(1).notification())
        .isInstanceOf(SessionNotification.Contended.class);
    assertThat(a.notifications()).as("what is left").hasSize(102 - renewed.notifications().size());
  }

  @Test
  void givenReaders_whenAWriterMeetsThem_thenEachIsToldThatItIsWanted() {
    needs(Capability.SHARED);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId first = a.hold(LOCK, SH).attempt();
    AttemptId second = b.hold(LOCK, SH).attempt();
    busy(c.acquire(LOCK, c.attempt(), EX));
    busy(c.acquire(LOCK, c.attempt(), EX));
    assertThat(a.notifications()).containsExactly(new SessionNotification.Contended(LOCK, first));
    assertThat(b.notifications()).containsExactly(new SessionNotification.Contended(LOCK, second));
  }

  @Test
  void givenHandOffWhileOthersWait_thenTheNewHolderIsToldThatItIsWanted() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId first = a.hold(LOCK, EX).attempt();
    b.queued(LOCK, EX);
    c.queued(LOCK, EX);
    a.end(LOCK, first);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification.HoldGranted::wanted)
        .containsExactly(true);
  }

  @Test
  void givenHandOffToTheLastWaiter_thenTheNewHolderIsNotWanted() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    b.queued(LOCK, EX);
    a.end(LOCK, first);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification.HoldGranted::wanted)
        .containsExactly(false);
  }

  @Test
  void givenNews_whenItIsNotAcknowledged_thenItIsToldAgain_andAfterwardsNotAnyMore() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    busy(b.acquire(LOCK, b.attempt(), EX));
    long beat = a.beat();
    List<Renewal.NumberedNotification> first =
        renewed(a.renew(beat, beat + 1, List.of())).notifications();
    List<Renewal.NumberedNotification> second =
        renewed(a.renew(beat + 1, beat + 2, List.of())).notifications();
    assertThat(first).hasSize(1);
    assertThat(second).isEqualTo(first);
    List<Long> seen = List.of(first.get(0).id());
    assertThat(renewed(a.renew(beat + 2, beat + 3, seen)).notifications()).isEmpty();
    assertThat(renewed(a.renew(beat + 3, beat + 4, List.of())).notifications()).isEmpty();
  }

  @Test
  void givenNewsAcknowledgedInARenewalWhoseReplyWasLost_thenOnlyTheRestIsToldAgain() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    a.hold(OTHER, EX);
    busy(b.acquire(LOCK, b.attempt(), EX));
    busy(b.acquire(OTHER, b.attempt(), EX));
    long beat = a.beat();
    List<Renewal.NumberedNotification> told =
        renewed(a.renew(beat, beat + 1, List.of())).notifications();
    assertThat(told).hasSize(2);
    assertThat(told.get(0).notification())
        .isEqualTo(new SessionNotification.Contended(LOCK, first));
    List<Long> seen = List.of(told.get(0).id());
    renewed(a.renew(beat + 1, beat + 2, seen));
    assertThat(renewed(a.renew(beat + 1, beat + 2, seen)).notifications())
        .containsExactly(told.get(1));
  }

  @Test
  void givenNewsThatACloneAcknowledges_whenItsRenewalIsRefused_thenItIsToldAgain() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    busy(b.acquire(LOCK, b.attempt(), EX));
    long beat = a.beat();
    List<Renewal.NumberedNotification> told =
        renewed(a.renew(beat, beat + 10, List.of())).notifications();
    List<Long> seen = List.of(told.get(0).id());
    assertThat(a.renew(beat, beat + 20, seen)).isInstanceOf(Renewal.Lost.class);
    assertThat(renewed(a.renew(beat + 10, beat + 11, List.of())).notifications()).isEqualTo(told);
  }

  @Test
  void givenMoreNewsThanOneStepTells_thenItSaysSo_andAllIsToldInOrder() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    List<AttemptId> wanted = manyAreWanted(a, b, 150);
    long beat = a.beat();
    Renewal.Renewed first = renewed(a.renew(beat, beat, List.of()));
    assertThat(first.more()).isTrue();
    assertThat(first.notifications()).hasSizeLessThan(150);
    assertThat(a.notifications())
        .extracting(SessionNotification::attempt)
        .containsExactlyElementsOf(wanted);
  }

  private static List<AttemptId> manyAreWanted(SessionDriver a, SessionDriver b, int count) {
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    List<AttemptId> wanted = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      LockName name = LockName.of("n" + i);
      wanted.add(a.hold(name, EX).attempt());
      b.session()
          .submit(
              new Request.Acquire(name, b.attempt(), EX, false, HoldTerms.NONE, 1, 0, null),
              replies);
      replies.await(i + 1);
    }
    return wanted;
  }

  @Test
  void givenStoreThatPushes_thenWantedGrantedAndGoneArriveUnasked() {
    needs(Capability.PUSH);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, EX).attempt();
    busy(b.acquire(LOCK, b.attempt(), EX));
    BoundedWait.until(
        BoundedWait.ANSWER,
        "the holder heard that it is wanted",
        () -> a.hints().all().contains(new SessionNotification.Contended(LOCK, first)));
    if (under.capabilities().contains(Capability.QUEUE)) {
      AttemptId waiter = b.queued(LOCK, EX);
      a.end(LOCK, first);
      BoundedWait.until(
          BoundedWait.ANSWER,
          "the waiter heard that it holds",
          () ->
              b.hints().all().stream()
                  .anyMatch(
                      notifications ->
                          notifications instanceof SessionNotification.HoldGranted
                              && notifications.attempt().equals(waiter)));
    }
  }

  @Test
  void givenDeadHolder_whenItIsWantedOrTaken_thenNothingFails() {
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    SessionId dead = die(a);
    busy(b.acquire(LOCK, b.attempt(), EX));
    granted(b.take(LOCK, b.attempt(), EX, false, dead));
    assertThat(b.notifications()).isEmpty();
  }
}
