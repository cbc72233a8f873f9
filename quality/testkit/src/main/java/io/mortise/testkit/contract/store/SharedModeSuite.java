package io.mortise.testkit.contract.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many readers or one writer, first come first served, each hold on its own. */
class SharedModeSuite extends StoreSuite {
  SharedModeSuite(StoreUnderTest under) {
    super(under);
  }

  @BeforeEach
  void needsShared() {
    needs(Capability.SHARED);
  }

  @Test
  @Tag("exclusion")
  void givenReaders_thenTheyShare_andAWriterIsBusyUntilTheLastHasLeft() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId first = a.hold(LOCK, SH).attempt();
    AttemptId second = b.hold(LOCK, SH).attempt();
    busy(c.acquire(LOCK, c.attempt(), EX));
    a.end(LOCK, first);
    busy(c.acquire(LOCK, c.attempt(), EX));
    b.end(LOCK, second);
    granted(c.acquire(LOCK, c.attempt(), EX));
  }

  @Test
  @Tag("exclusion")
  void givenWriter_thenReadersAreBusy() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.hold(LOCK, EX);
    busy(b.acquire(LOCK, b.attempt(), SH));
    busy(a.acquire(LOCK, a.attempt(), SH));
  }

  @Test
  void givenReaders_whenOneReleasesTwice_thenTheOthersStand() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId first = a.hold(LOCK, SH).attempt();
    AttemptId second = a.hold(LOCK, SH).attempt();
    AttemptId third = b.hold(LOCK, SH).attempt();
    a.end(LOCK, first);
    assertEnded(a.end(LOCK, first), AttemptState.HELD, EndReason.RELEASED);
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(second, third);
  }

  @Test
  void givenReaderWhoseAcquireIsSentAgain_thenItCountsOnce() {
    SessionDriver a = session("a");
    AttemptId attempt = a.hold(LOCK, SH).attempt();
    granted(a.acquire(LOCK, attempt, SH));
    a.end(LOCK, attempt);
    assertFree(LOCK, a);
  }

  @Test
  void givenWaitingWriter_thenLaterReadersWaitBehindIt() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId reader = a.hold(LOCK, SH).attempt();
    AttemptId writer = b.queued(LOCK, EX);
    AttemptId later = c.queued(LOCK, SH);
    busy(c.acquire(LOCK, c.attempt(), SH));

    a.end(LOCK, reader);
    assertThat(holders(LOCK)).containsExactly(writer);
    b.end(LOCK, writer);
    assertThat(holders(LOCK)).containsExactly(later);
  }

  @Test
  void givenWaitingReaders_whenTheWriterReleases_thenTheyWakeTogether_upToTheNextWriter() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    AttemptId writer = a.hold(LOCK, EX).attempt();
    AttemptId first = b.queued(LOCK, SH);
    AttemptId second = c.queued(LOCK, SH);
    AttemptId next = a.queued(LOCK, EX);
    AttemptId last = c.queued(LOCK, SH);

    a.end(LOCK, writer);

    assertThat(holders(LOCK)).containsExactlyInAnyOrder(first, second);
    assertThat(waiters(LOCK)).containsExactly(next, last);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(first);
    assertThat(only(SessionNotification.HoldGranted.class, c.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(second);
  }

  @Test
  void givenTwoHundredWaitingReaders_whenTheWriterReleases_thenEachStepIsBounded_andAllEnter() {
    needs(Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId writer = a.hold(LOCK, EX).attempt();
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    Set<AttemptId> readers = new LinkedHashSet<>();
    for (int i = 0; i < 200; i++) {
      AttemptId reader = b.attempt();
      readers.add(reader);
      b.session()
          .submit(new Request.Acquire(LOCK, reader, SH, true, HoldTerms.NONE, 1, 0, null), replies);
    }
    assertAll(Reply.Queued.class, replies.await(200));
    assertThat(waiters(LOCK)).containsExactlyElementsOf(readers);

    Reply.Ended ended = (Reply.Ended) a.ask(new Request.Abandon(LOCK, writer));
    assertThat(ended.more()).as("the first step is bounded").isEqualTo(proofs());
    a.end(LOCK, writer);

    assertThat(holders(LOCK)).containsExactlyInAnyOrderElementsOf(readers);
    List<SessionNotification> sessionNotification = b.notifications();
    assertThat(
            only(SessionNotification.HoldGranted.class, sessionNotification).stream()
                .map(SessionNotification::attempt))
        .containsExactlyInAnyOrderElementsOf(readers);
    assertThat(
            new HashSet<>(
                only(SessionNotification.HoldGranted.class, sessionNotification).stream()
                    .map(SessionNotification.HoldGranted::token)
                    .toList()))
        .hasSize(200);
  }

  @Test
  void givenTwoHundredReadersOfADeadProcess_whenAWriterKeepsAskingWithTheProof_thenItHolds() {
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    a.holdMany(LOCK, SH, 200);
    SessionId dead = die(a);

    AttemptId writer = b.attempt();
    int asked = 0;
    Reply reply;
    do {
      reply = b.take(LOCK, writer, EX, false, dead);
      asked++;
    } while (!(reply instanceof Reply.Granted) && asked < 20);

    assertThat(asked).as("each step is bounded, and makes progress").isBetween(2, 20);
    assertThat(holders(LOCK)).containsExactly(writer);
  }

  @Test
  void givenReadersOfSeveralDeadProcesses_whenAWriterProvesWhomItIsTold_thenItHoldsSoon() {
    needsProofs();
    SessionDriver writer = session("w");
    List<SessionDriver> readers = List.of(session("a"), session("b"), session("c"));
    // As many of each as one step looks at: the holds ended by a proof must be those that the next
    // step meets.
    readers.forEach(reader -> reader.holdMany(LOCK, SH, 64));
    readers.forEach(this::die);

    AttemptId attempt = writer.attempt();
    Reply reply = writer.acquire(LOCK, attempt, EX);
    int asked = 1;
    while (reply instanceof Reply.Busy && asked < 10) {
      Reply.Holder holder = inTheWay(reply);
      assertThat(holder.sessionLeft()).as("one that can be proven dead").isZero();
      reply = writer.take(LOCK, attempt, EX, false, holder.attempt().session());
      asked++;
    }

    granted(reply);
    assertThat(holders(LOCK)).containsExactly(attempt);
  }

  @Test
  void givenDeadReaderBehindManyLiveOnes_whenAWriterKeepsAsking_thenItIsToldOfTheDeadOne() {
    needsProofs();
    SessionDriver writer = session("w");
    SessionDriver live = session("a");
    SessionDriver doomed = session("b");
    live.holdMany(LOCK, SH, 150);
    doomed.holdMany(LOCK, SH, 2);
    SessionId dead = die(doomed);

    int asked = 0;
    Reply.Holder holder;
    do {
      holder = inTheWay(writer.acquire(LOCK, writer.attempt(), EX));
      asked++;
    } while (!holder.sessionLeft().isZero() && asked < 5);
    assertThat(holder.attempt().session()).isEqualTo(dead);
    busy(writer.take(LOCK, writer.attempt(), EX, false, dead));

    assertThat(holders(LOCK)).hasSize(150).noneMatch(left -> left.session().equals(dead));
    assertThat(live.notifications()).as("each is told that it is wanted, once").hasSize(150);
  }

  @Test
  void givenDeadReaderAmongLiveOnes_whenAWriterBringsTheProof_thenOnlyTheDeadOneEnds() {
    needsProofs();
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    a.hold(LOCK, SH);
    AttemptId live = b.hold(LOCK, SH).attempt();
    SessionId dead = die(a);
    Reply.Busy busy = busy(c.acquire(LOCK, c.attempt(), EX));
    assertThat(inTheWay(busy).attempt().session()).as("the one to judge").isEqualTo(dead);
    busy(c.take(LOCK, c.attempt(), EX, false, dead));
    assertThat(holders(LOCK)).containsExactly(live);
  }

  @Test
  void givenWriter_whenItNarrowsToShared_thenWaitingReadersEnterThen_andAWriterDoesNot() {
    needs(Capability.DOWNGRADE, Capability.QUEUE);
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    SessionDriver c = session("c");
    Reply.Granted writer = a.hold(LOCK, EX);
    AttemptId reader = b.queued(LOCK, SH);
    AttemptId second = c.queued(LOCK, EX);

    Reply.Granted narrowed = granted(a.adjust(LOCK, writer.attempt(), SH, HoldTerms.NONE, 0));

    assertThat(narrowed.token()).isEqualTo(writer.token());
    assertThat(holders(LOCK)).containsExactlyInAnyOrder(writer.attempt(), reader);
    assertThat(waiters(LOCK)).containsExactly(second);
    assertThat(only(SessionNotification.HoldGranted.class, b.notifications()))
        .extracting(SessionNotification::attempt)
        .containsExactly(reader);
    granted(a.adjust(LOCK, writer.attempt(), SH, HoldTerms.NONE, 0));
    a.end(LOCK, writer.attempt());
    b.end(LOCK, reader);
    assertThat(holders(LOCK)).containsExactly(second);
  }

  @Test
  void givenReader_whenItAsksForMore_thenItIsRefusedAndStaysAReader() {
    SessionDriver a = session("a");
    SessionDriver b = session("b");
    AttemptId reader = a.hold(LOCK, SH).attempt();
    assertRefused(a.adjust(LOCK, reader, EX, HoldTerms.NONE, 0), RefusalReason.UNSUPPORTED);
    b.hold(LOCK, SH);
    assertThat(holders(LOCK)).hasSize(2);
  }

  @Test
  @Tag("tokens-rise")
  void givenReaders_thenTheirTokensDiffer_andAWriterAfterThemHasAGreaterOne() {
    needs(Capability.TOKEN);
    SessionDriver a = session("a");
    Reply.Granted first = a.hold(LOCK, SH);
    Reply.Granted second = a.hold(LOCK, SH);
    assertThat(second.token()).isGreaterThan(first.token());
    a.end(LOCK, second.attempt());
    a.end(LOCK, first.attempt());
    assertThat(a.hold(LOCK, EX).token()).isGreaterThan(second.token());
  }
}
