package io.mortise.zookeeper.internal.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.SessionId;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LockQueueTest {
  private static final int EX = Mode.SHARERS;

  @Test
  void givenSequenceThatOverflows_thenTheOrderIsThatOfArrival() {
    int last = Integer.MAX_VALUE;
    List<String> nodes =
        List.of(
            LockQueue.node(EX, last + 2),
            LockQueue.node(EX, last),
            LockQueue.node(EX, last - 1),
            LockQueue.node(EX, last + 1));

    LockQueue lockQueue = LockQueue.of(nodes, EX);

    assertThat(
            List.of(lockQueue.place(0).seq(), lockQueue.place(1).seq(), lockQueue.place(2).seq()))
        .containsExactly(last - 1, last, last + 1);
    assertThat(lockQueue.holding()).isEqualTo(1);
    assertThat(lockQueue.indexOf(last + 2)).isEqualTo(3);
    assertThat(lockQueue.indexOf(0)).isEqualTo(-1);
    assertThat(LockQueue.node(EX, last + 1)).isEqualTo("1000000--2147483648");
    assertThat(LockQueue.node(3, 42)).isEqualTo("3-0000000042");
  }

  @Test
  void givenReadersAWriterAndReaders_thenOnlyTheFirstReadersHold_andTheOthersWatchTheWriter() {
    LockQueue lockQueue =
        LockQueue.of(
            List.of(
                "1-0000000000",
                "1-0000000001",
                "1000000-0000000002",
                "1-0000000003",
                "1-0000000004"),
            EX);
    assertThat(lockQueue.holding()).isEqualTo(2);
    assertThat(lockQueue.watched(2, false)).isEqualTo(1);
    assertThat(lockQueue.watched(4, true)).isEqualTo(2);
  }

  @Test
  void givenPermits_thenASmallRequestDoesNotPassALargeOne() {
    LockQueue lockQueue = LockQueue.of(List.of("2-0000000000", "3-0000000001", "1-0000000002"), 3);
    assertThat(lockQueue.holding()).isEqualTo(1);
  }

  @Test
  void givenMarks_thenTheLeastWeightCounts_andAMarkWithoutItsNodeNothing() {
    LockQueue lockQueue =
        LockQueue.of(
            List.of(
                "2-0000000001",
                LockQueue.narrowed(1, 0),
                LockQueue.narrowed(2, 0),
                LockQueue.narrowed(1, 9),
                "narrowed-",
                "narrowed-x-0000000001",
                "3-0000000000"),
            3);
    assertThat(lockQueue.size()).isEqualTo(2);
    assertThat(lockQueue.holding()).isEqualTo(2);
    assertThat(lockQueue.place(0).weight()).isOne();
    assertThat(lockQueue.place(0).node()).isEqualTo("3-0000000000");
    assertThat(LockQueue.QueueNode.parse(LockQueue.narrowed(1, 0)).weight())
        .as("as earlier versions read it")
        .isZero();
  }

  @Test
  void givenAtLeastTimeOfAnEndedHold_thenThoseThatHeldGoOn_andNobodyBehindItIsGranted() {
    AttemptId attempt = new AttemptId(SessionId.random(new SecureRandom()), 7);
    AtLeastMark mark = new AtLeastMark(1, 1, 2, Duration.ofSeconds(5), attempt);
    assertThat(AtLeastMark.parse(mark.name())).isEqualTo(mark);
    assertThat(AtLeastMark.parse("least-1-1-2-5")).isNull();
    List<String> nodes =
        List.of("1-0000000000", "1-0000000002", "1-0000000003", mark.upTo(2).name());

    LockQueue shut = LockQueue.of(nodes, EX);

    assertThat(shut.size()).isEqualTo(3);
    assertThat(shut.isShutBy(shut.lastMarks().get(0))).isTrue();
    assertThat(shut.holding()).isEqualTo(2);
    assertThat(shut.grantable()).isEqualTo(1);
    assertThat(shut.holdingOnceOpen()).isEqualTo(3);
    List<String> held = new ArrayList<>(nodes);
    held.add("1-0000000001");
    assertThat(LockQueue.of(held, EX).grantable()).as("the hold goes on").isEqualTo(4);
  }

  @Test
  void givenSeveralStarts_thenTheLastCounts() {
    AttemptId attempt = new AttemptId(SessionId.random(new SecureRandom()), 7);
    AtLeastMark first = new AtLeastMark(1, 1, 1, Duration.ofSeconds(5), attempt);
    AtLeastMark last = new AtLeastMark(1, 1, 2, Duration.ofSeconds(5), attempt);
    LockQueue queue = LockQueue.of(List.of(last.name(), first.name()), EX);
    assertThat(queue.lastMarks()).containsExactly(last);
    assertThat(queue.marks(1)).containsExactlyInAnyOrder(first, last);
  }

  @Test
  void givenNodeThatOutlivesItsSession_thenItIsPassed_unlessItsMarkIsThatOfAnotherSession() {
    SessionId ended = SessionId.random(new SecureRandom());
    SessionId living = SessionId.random(new SecureRandom());
    List<String> nodes = List.of(LockQueue.node(EX, 0), LockQueue.node(EX, 1));

    LockQueue passed = LockQueue.of(nodes, EX, Map.of(0, ended));

    assertThat(passed.indexOf(1)).isZero();
    assertThat(passed.grantable()).isEqualTo(1);
    assertThat(passed.ended()).containsExactly(new LockQueue.QueueNode(EX, 0));
    for (SessionId session : List.of(ended, living)) {
      AtLeastMark mark = new AtLeastMark(0, 0, 1, Duration.ofSeconds(1), new AttemptId(session, 1));
      List<String> marked = new ArrayList<>(nodes);
      marked.add(mark.name());
      LockQueue shut = LockQueue.of(marked, EX, Map.of(0, ended));
      assertThat(shut.isShutBy(mark)).isEqualTo(session.equals(ended));
      assertThat(shut.holding()).isEqualTo(session.equals(ended) ? 0 : 1);
    }
  }

  @Test
  void givenNodesOfOthers_thenTheyCountNothing() {
    LockQueue lockQueue =
        LockQueue.of(List.of("x", "lock-0000000001", "-", "1-", "1000000-0000000007"), EX);
    assertThat(lockQueue.size()).isEqualTo(1);
    assertThat(lockQueue.holding()).isEqualTo(1);
  }
}
