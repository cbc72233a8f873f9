package io.mortise.console.view;

import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Shows cells of the guarantee table to people at a terminal, and to programs. */
public final class GuaranteeFormatter {
  public static final String NO_TEST = "not shown by a test yet";

  private static final int WIDTH = 100;
  private static final int ANSWER_WIDTH = 19;

  private GuaranteeFormatter() {}

  /** Returns the answers, each with its faults. */
  public static List<String> summary(List<Guarantee> cells) {
    List<String> lines = new ArrayList<>();
    for (GuaranteeLevel guaranteeLevel : GuaranteeLevel.values()) {
      List<String> faults =
          cells.stream()
              .filter(cell -> cell.answer() == guaranteeLevel)
              .map(cell -> lower(cell.fault().title()))
              .toList();
      if (!faults.isEmpty()) {
        lines.addAll(hanging(guaranteeLevel.words(), String.join(", ", faults)));
      }
    }
    return lines;
  }

  private static String lower(String title) {
    return Character.toLowerCase(title.charAt(0)) + title.substring(1);
  }

  /** Returns each fault with its answer, reason and tests. */
  public static List<String> details(List<Guarantee> cells) {
    List<String> lines = new ArrayList<>();
    for (Guarantee cell : cells) {
      lines.add(cell.fault().title() + ": " + cell.answer().words());
      wrap(plain(cell.because()), WIDTH - 6).forEach(line -> lines.add("    " + line));
      cell.tests().forEach(test -> lines.add("    - " + test));
      if (cell.tests().isEmpty() && cell.answer() != GuaranteeLevel.NONE) {
        lines.add("    - " + NO_TEST);
      }
    }
    return lines;
  }

  public static Map<String, Object> json(GuaranteeTable table, StoreMode mode) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("mode", mode.id());
    object.put("title", plain(mode.title()));
    object.put("cells", table.row(mode.id()).stream().map(GuaranteeFormatter::json).toList());
    return object;
  }

  private static Map<String, Object> json(Guarantee cell) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("fault", cell.fault().id());
    object.put("answer", cell.answer().name().toLowerCase(Locale.ROOT));
    object.put("because", plain(cell.because()));
    object.put("tests", cell.tests());
    return object;
  }

  /** Removes the marks of code and emphasis. */
  public static String plain(String markdown) {
    return markdown.replace("`", "").replaceAll("\\*(\\w+)\\*", "$1");
  }

  /** Formats a text with a hanging indent behind a word. */
  public static List<String> hanging(String word, String text) {
    List<String> lines = new ArrayList<>();
    for (String line : wrap(text, WIDTH - ANSWER_WIDTH - 2)) {
      String front = lines.isEmpty() ? word : "";
      lines.add(front + " ".repeat(Math.max(1, ANSWER_WIDTH - front.length())) + line);
    }
    return lines;
  }

  /** Breaks a text between words. */
  public static List<String> wrap(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (line.length() > 0 && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.length() == 0 ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
