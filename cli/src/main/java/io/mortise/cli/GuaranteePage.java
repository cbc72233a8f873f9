package io.mortise.cli;

import io.mortise.guarantee.Fault;
import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collector;
import java.util.stream.Collectors;

/** The page docs/guarantees.md: the whole table, then store by store why, and by which test. */
final class GuaranteePage {
  private static final String INTRODUCTION =
      """
      # What is guaranteed

      <!-- Made from core/src/main/resources/META-INF/mortise/guarantees.ini by 'mortise guarantees --markdown'. Change that file, not this one. -->

      What becomes of **exclusive locks** when something goes wrong: store and mode × fault. The worst that can happen counts. `mortise doctor --store URL` says in which mode a server of yours is and what would change
      it; `mortise guarantees STORE` prints the same as this page.

      Everywhere:

      - Clocks have to *run* at about the same rate, within 0.1 %; they need not show the same time.
      - "Detected by token" helps where the resource compares [tokens](sql-helpers.md#fencing). For a resource that does not, read "may go unnoticed", and so for shared holds and permits: they overlap, so their tokens cannot be compared.
      - The holder is told of a loss by `onLost`, `isValid()` and `ensureValid()`; "at its next renewal" is after a third of the TTL at the latest.
      - Tests are those of this repository; all but `SimulationTest` run on the store itself. What no test shows yet says so: there the answer rests on how Mortise and the server are built.
      """;

  private final GuaranteeTable table;

  GuaranteePage(GuaranteeTable table) {
    this.table = table;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>(INTRODUCTION.lines().toList());
    lines.add("");
    lines.add("| Answer | Means |");
    lines.add("|---|---|");
    for (GuaranteeLevel guaranteeLevel : GuaranteeLevel.values()) {
      lines.add("| " + sign(guaranteeLevel) + " | " + guaranteeLevel.meaning() + " |");
    }
    lines.add("");
    lines.add("## The table");
    lines.add("");
    overview(lines);
    lines.add("");
    lines.add(
        "° "
            + GuaranteeFormatter.NO_TEST
            + "; ¹ shown in the simulation only, which runs the engine on the reference machine in virtual time");
    lines.add("");
    lines.add("| Fault | Means |");
    lines.add("|---|---|");
    for (Fault fault : table.faults()) {
      lines.add("| " + fault.title() + " | " + fault.meaning() + " |");
    }
    lines.add("");
    lines.add("## Why, and which test shows it");
    for (StoreMode mode : table.modes()) {
      section(lines, mode);
    }
    return lines;
  }

  private void overview(List<String> lines) {
    lines.add("| |" + table.faults().stream().map(f -> " " + f.title() + " |").collect(joined()));
    lines.add("|---|" + "---|".repeat(table.faults().size()));
    for (StoreMode mode : table.modes()) {
      lines.add(
          "| "
              + mode.title()
              + " |"
              + table.row(mode.id()).stream()
                  .map(cell -> " " + sign(cell.answer()) + mark(cell) + " |")
                  .collect(joined()));
    }
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

  private static String sign(GuaranteeLevel guaranteeLevel) {
    return switch (guaranteeLevel) {
      case NONE -> "–";
      case UNNOTICED -> "**" + guaranteeLevel.words() + "**";
      default -> guaranteeLevel.words();
    };
  }

  /** The first mode of a store in full, the others where they differ. */
  private void section(List<String> lines, StoreMode mode) {
    Optional<StoreMode> first =
        table.modes().stream()
            .filter(other -> other.store().equals(mode.store()))
            .findFirst()
            .filter(other -> !other.equals(mode));
    lines.add("");
    lines.add("### " + mode.title());
    lines.add("");
    lines.add(
        "`" + mode.id() + "`" + first.map(like -> ": as `" + like.id() + "`, but:").orElse(""));
    lines.add("");
    for (Guarantee cell : table.row(mode.id())) {
      boolean same =
          first.isPresent()
              && told(table.cell(first.get().id(), cell.fault().id())).equals(told(cell));
      if (!same) {
        lines.add(told(cell));
      }
    }
  }

  private static String told(Guarantee cell) {
    StringBuilder line = new StringBuilder();
    line.append("- **").append(cell.fault().title()).append(": ").append(cell.answer().words());
    line.append(".** ").append(cell.because());
    if (!isShown(cell)) {
      line.append(" *").append(capital(GuaranteeFormatter.NO_TEST)).append(".*");
    } else if (!cell.tests().isEmpty()) {
      line.append(" *Shown by* ")
          .append(
              cell.tests().stream().map(test -> "`" + test + "`").collect(Collectors.joining(", ")))
          .append('.');
    }
    return line.toString();
  }

  private static String capital(String text) {
    return Character.toUpperCase(text.charAt(0)) + text.substring(1);
  }
}
