package io.mortise.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Columns on terminals of any width. */
class TextTableTest {
  private static final List<List<String>> ROWS =
      List.of(
          List.of("NAME", "HOLDER", "LABEL"),
          List.of("鎖/請求書", "db1:4711", "a label of many words that nobody needs in full"),
          List.of("cafe\u0301", "db2:4711", ""));

  @Test
  void givenWideLettersAndMarks_thenColumnsStandBelowEachOther() {
    List<String> lines = TextTable.lines(ROWS, 200);
    assertThat(lines.get(0)).startsWith("NAME       HOLDER");
    assertThat(lines.get(1)).startsWith("鎖/請求書  db1:4711  a label");
    assertThat(lines.get(2)).isEqualTo("cafe\u0301       db2:4711");
  }

  @Test
  void givenNarrowTerminal_thenNoLineIsWider_andWhatIsShortStays() {
    for (int columns = 12; columns < 80; columns++) {
      int most = columns;
      assertThat(TextTable.lines(ROWS, columns))
          .as("at %d columns", columns)
          .allMatch(line -> TextWidth.of(line) <= most);
    }
    assertThat(TextTable.lines(ROWS, 40).get(1)).isEqualTo("鎖/請求書  db1:4711  a label of many wo…");
  }
}
