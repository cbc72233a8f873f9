package io.mortise.console.internal.api;

import io.mortise.console.view.OutputSanitizer;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Lines of a CSV file in which a spreadsheet finds no formula. */
final class CsvCells {
  private static final String FORMULA = "=+-@\t\r";

  private CsvCells() {}

  static String line(List<@Nullable Object> cells) {
    return cells.stream().map(CsvCells::cell).collect(Collectors.joining(",", "", "\r\n"));
  }

  private static String cell(@Nullable Object value) {
    if (value == null) {
      return "";
    }
    if (value instanceof Number) {
      return value.toString();
    }
    String raw = value.toString();
    boolean formula = !raw.isEmpty() && FORMULA.indexOf(raw.charAt(0)) >= 0;
    String text = (formula ? "'" : "") + OutputSanitizer.text(raw);
    return '"' + text.replace("\"", "\"\"") + '"';
  }
}
