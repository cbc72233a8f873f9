package io.mortise.cli.output;

import io.mortise.console.view.GuaranteeFormatter;
import io.mortise.guarantee.Fault;
import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collector;
import java.util.stream.Collectors;

/**
 * The table of docs/reference, and for each store the site's page with reasons and the tests that
 * show them.
 */
public final class GuaranteePage {
  private static final String MADE =
      "<!-- Made from core/src/main/resources/META-INF/mortise/guarantees.ini by 'mortise guarantees --markdown%s'."
          + " Change that file, not this one. -->";

  private static final String INTRODUCTION =
      """
      # What is guaranteed

      %s

      What becomes of **exclusive locks** under a fault, for each store and mode. The worst that can happen counts. `mortise doctor --store URL` says in which mode your server is, and what to change for more.
      """;

  private static final String EVERYWHERE =
      """
      ## What holds for every cell

      - Clocks have to *run* at about the same rate, within 0.1 %. They need not show the same time.
      - *Detected by token* helps where the resource compares tokens, see [fencing](../concepts/leases-and-fencing.md). For a resource that does not, read *may go unnoticed*. The same holds for shared holds and permits: they overlap, so their tokens cannot be compared.
      - The holder is told of a loss by `onLost`, `isValid()` and `ensureValid()`. *At its next renewal* is after a third of the TTL at the latest.
      - Tests are those of the project's repository. All but `SimulationTest` run on the store itself. Without a test, an answer rests on how Mortise and the server are built.
      """;

  private final GuaranteeTable table;

  public GuaranteePage(GuaranteeTable table) {
    this.table = table;
  }

  /** The table of all stores. */
  public List<String> lines() {
    List<String> lines =
        new ArrayList<>(INTRODUCTION.formatted(MADE.formatted("")).lines().toList());
    lines.add("");
    overview(lines);
    lines.add("");
    lines.add(
        "° "
            + GuaranteeFormatter.NO_TEST
            + "; ¹ shown in the simulation only, which runs the engine on the reference machine in virtual time."
            + " `mortise guarantees MODE` prints the reasons of a mode, with `redis/always` for example; a page of"
            + " the site has the reasons and tests of each store.");
    lines.add("");
    lines.add("## Answers");
    lines.add("");
    lines.add("| In the table | Means |");
    lines.add("|---|---|");
    for (GuaranteeLevel answer : GuaranteeLevel.values()) {
      lines.add("| " + sign(answer) + " | *" + answer.words() + "*: " + answer.meaning() + " |");
    }
    lines.add("");
    lines.add("## Faults");
    lines.add("");
    lines.add("| Fault | Means |");
    lines.add("|---|---|");
    for (Fault fault : table.faults()) {
      lines.add("| " + fault.title() + " | " + fault.meaning() + " |");
    }
    lines.add("");
    lines.addAll(EVERYWHERE.lines().toList());
    return lines;
  }

  /** The page of one store: its modes side by side, then the reasons. */
  public List<String> lines(String store) {
    List<StoreMode> modes =
        table.modes().stream().filter(mode -> mode.store().equals(store)).toList();
    List<String> lines = new ArrayList<>();
    lines.add("# Guarantees of `" + store + "`");
    lines.add("");
    lines.add(MADE.formatted(" " + store));
    lines.add("");
    lines.add(
        "What becomes of exclusive locks under a fault, why, and which test shows it. All stores, and what the"
            + " words mean: [what is guaranteed](../guarantees.md).");
    lines.add("");
    lines.add("| Mode | Set up as |");
    lines.add("|---|---|");
    modes.forEach(mode -> lines.add("| `" + mode.id() + "` | " + mode.title() + " |"));
    lines.add("");
    lines.add("| Fault |" + modes.stream().map(mode -> " `" + mode.id() + "` |").collect(joined()));
    lines.add("|---|" + "---|".repeat(modes.size()));
    for (Fault fault : table.faults()) {
      lines.add(
          "| "
              + fault.title()
              + " |"
              + modes.stream()
                  .map(mode -> " " + shown(table.cell(mode.id(), fault.id())) + " |")
                  .collect(joined()));
    }
    table.faults().forEach(fault -> section(lines, modes, fault));
    return lines;
  }

  private void overview(List<String> lines) {
    lines.add(
        "| Store |" + table.faults().stream().map(f -> " " + f.title() + " |").collect(joined()));
    lines.add("|---|" + "---|".repeat(table.faults().size()));
    for (StoreMode mode : table.modes()) {
      lines.add(
          "| `"
              + mode.id()
              + "`: "
              + mode.title()
              + " |"
              + table.row(mode.id()).stream()
                  .map(cell -> " " + shown(cell) + " |")
                  .collect(joined()));
    }
  }

  private static String shown(Guarantee cell) {
    return sign(cell.answer()) + mark(cell);
  }

  private static String mark(Guarantee cell) {
    boolean simulated =
        cell.tests().stream().allMatch(test -> test.startsWith("simulation:SimulationTest#"));
    return !isShown(cell) ? " °" : simulated && cell.answer() != GuaranteeLevel.NONE ? " ¹" : "";
  }

  private static boolean isShown(Guarantee cell) {
    return cell.answer() == GuaranteeLevel.NONE || !cell.tests().isEmpty();
  }

  private static Collector<CharSequence, ?, String> joined() {
    return Collectors.joining();
  }

  private static String sign(GuaranteeLevel answer) {
    return switch (answer) {
      case NONE -> "–";
      case SAFE -> "safe";
      case DELAYED -> "delayed";
      case DETECTED -> "token";
      case UNNOTICED -> "**unnoticed**";
    };
  }

  /** Adds the fate of locks under a fault, once for all modes with the same text. */
  private void section(List<String> lines, List<StoreMode> modes, Fault fault) {
    lines.add("");
    lines.add("## " + fault.title());
    lines.add("");
    Map<String, List<Guarantee>> alike = new LinkedHashMap<>();
    for (StoreMode mode : modes) {
      Guarantee cell = table.cell(mode.id(), fault.id());
      String said = cell.answer().words() + "\n" + cell.because() + "\n" + isShown(cell);
      alike.computeIfAbsent(said, key -> new ArrayList<>()).add(cell);
    }
    for (List<Guarantee> cells : alike.values()) {
      String where =
          alike.size() == 1
              ? ""
              : cells.stream()
                  .map(cell -> "`" + cell.mode().id() + "`")
                  .collect(Collectors.joining(", ", "", ": "));
      lines.add("- " + where + told(cells));
    }
  }

  private static String told(List<Guarantee> cells) {
    Guarantee first = cells.get(0);
    StringBuilder line = new StringBuilder();
    line.append("**").append(capital(first.answer().words())).append(".** ");
    line.append(first.because());
    List<String> tests = cells.stream().flatMap(cell -> cell.tests().stream()).distinct().toList();
    if (!isShown(first)) {
      line.append(" *").append(capital(GuaranteeFormatter.NO_TEST)).append(".*");
    } else if (!tests.isEmpty()) {
      line.append(" *Shown by* ")
          .append(tests.stream().map(test -> "`" + test + "`").collect(Collectors.joining(", ")))
          .append('.');
    }
    return line.toString();
  }

  private static String capital(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
