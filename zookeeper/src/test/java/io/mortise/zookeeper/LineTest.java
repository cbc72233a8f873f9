package io.mortise.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineTest {
  private static final int EX = Mode.SHARERS;

  @Test
  void givenSequenceThatOverflows_thenTheOrderIsThatOfArrival() {
    int last = Integer.MAX_VALUE;
    List<String> nodes =
        List.of(
            Line.node(EX, last + 2),
            Line.node(EX, last),
            Line.node(EX, last - 1),
            Line.node(EX, last + 1));

    Line line = Line.of(nodes, EX);

    assertThat(List.of(line.place(0).seq(), line.place(1).seq(), line.place(2).seq()))
        .containsExactly(last - 1, last, last + 1);
    assertThat(line.holding()).isEqualTo(1);
    assertThat(line.indexOf(last + 2)).isEqualTo(3);
    assertThat(line.indexOf(0)).isEqualTo(-1);
    assertThat(Line.node(EX, last + 1)).isEqualTo("1000000--2147483648");
    assertThat(Line.node(3, 42)).isEqualTo("3-0000000042");
  }

  @Test
  void givenReadersAWriterAndReaders_thenOnlyTheFirstReadersHold_andTheOthersWatchTheWriter() {
    Line line =
        Line.of(
            List.of(
                "1-0000000000",
                "1-0000000001",
                "1000000-0000000002",
                "1-0000000003",
                "1-0000000004"),
            EX);
    assertThat(line.holding()).isEqualTo(2);
    assertThat(line.watched(2, false)).isEqualTo(1);
    assertThat(line.watched(4, true)).isEqualTo(2);
  }

  @Test
  void givenPermits_thenASmallRequestDoesNotPassALargeOne() {
    Line line = Line.of(List.of("2-0000000000", "3-0000000001", "1-0000000002"), 3);
    assertThat(line.holding()).isEqualTo(1);
  }

  @Test
  void givenNodesOfOthers_thenTheyCountNothing() {
    Line line = Line.of(List.of("x", "lock-0000000001", "-", "1-", "1000000-0000000007"), EX);
    assertThat(line.size()).isEqualTo(1);
    assertThat(line.holding()).isEqualTo(1);
  }
}
