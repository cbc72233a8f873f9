package io.mortise.cli.output;

import java.util.ArrayList;
import java.util.List;

/** Rows in columns. */
public final class TextTable {
  private static final int GAP = 2;

  /** The minimum width of a column. */
  private static final int NARROWEST = 8;

  private TextTable() {}

  /**
   * Returns one line for each row.
   *
   * @param rows of the same length, the first of them the headings
   * @param columns the width of a line; the widest cells are cut until it fits
   */
  public static List<String> lines(List<List<String>> rows, int columns) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], TextWidth.of(row.get(i)));
      }
    }
    shrink(widths, columns);
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        String cell = TextWidth.cut(row.get(i), Math.max(1, widths[i]));
        line.append(cell).append(" ".repeat(widths[i] - TextWidth.of(cell) + GAP));
      }
      lines.add(TextWidth.cut(line.toString().stripTrailing(), columns));
    }
    return lines;
  }

  private static void shrink(int[] widths, int columns) {
    long excess = (long) GAP * (widths.length - 1) - columns;
    for (int width : widths) {
      excess += width;
    }
    while (excess > 0) {
      int widest = 0;
      for (int i = 1; i < widths.length; i++) {
        widest = widths[i] >= widths[widest] ? i : widest;
      }
      if (widths[widest] <= NARROWEST) {
        return;
      }
      widths[widest]--;
      excess--;
    }
  }
}
