package io.mortise.torture.run;

import io.mortise.torture.history.Finding;
import io.mortise.torture.history.Finding.Rule;
import io.mortise.torture.history.Kind;
import io.mortise.torture.history.Verdict;
import io.mortise.torture.run.Torture.Result;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Tells how a run ended: as lines for a terminal, and as a page. */
public final class Report {
  private record Row(String what, String value, String text) {}

  private final Result result;
  private final String again;

  /**
   * A report.
   *
   * @param again the command that repeats the run; has no password
   */
  public Report(Result result, String again) {
    this.result = result;
    this.again = again;
  }

  /** For a terminal. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (List<Row> part : List.of(promises(), controls(), faults(), figures())) {
      for (Row row : part) {
        lines.add(
            String.format(Locale.ROOT, "  %-62s %10s  %s", row.what, row.value, row.text)
                .stripTrailing());
      }
    }
    for (Finding finding : result.verdict().findings()) {
      lines.add(
          "  BROKEN: " + finding.rule().promise() + ": " + finding.lock() + ": " + finding.text());
    }
    lines.add(result.store() + ": " + sentence());
    return lines;
  }

  private String sentence() {
    return switch (result.outcome()) {
      case KEPT -> "every promise was kept, and the controls broke as they must";
      case BROKEN -> "A PROMISE WAS BROKEN";
      case VOID -> "void: a control that must break did not, so that this run says nothing";
    };
  }

  private List<Row> promises() {
    Verdict verdict = result.verdict();
    List<Row> rows = new ArrayList<>();
    for (Rule rule : Rule.values()) {
      long found = verdict.found().getOrDefault(rule, 0L);
      rows.add(new Row(rule.promise(), found == 0 ? "kept" : Long.toString(found), ""));
    }
    return rows;
  }

  private List<Row> controls() {
    Verdict verdict = result.verdict();
    return List.of(
        new Row(
            "control: a resource that checks no token, updates lost",
            Integer.toString(verdict.openLosses()),
            verdict.openLosses() > 0 ? "" : "must be more than 0"),
        new Row(
            "control: a naive lock, overlaps and updates lost",
            Integer.toString(verdict.naiveLosses()),
            verdict.naiveLosses() > 0 ? "" : "must be more than 0"),
        new Row(
            "control: a naive queue, times that it waited for the dead",
            Integer.toString(verdict.naiveDelays()),
            verdict.naiveDelays() > 0 || !result.plan().faults().contains(Fault.KILL_WAITER)
                ? ""
                : "must be more than 0"));
  }

  /** A fault each: how often, what the guarantee table says, and what was seen. */
  private List<Row> faults() {
    Verdict verdict = result.verdict();
    List<Row> rows = new ArrayList<>();
    for (Fault fault : result.plan().faults().stream().sorted().toList()) {
      long count = verdict.figures().faults().getOrDefault(fault.label(), 0L);
      long broke = verdict.foretold().getOrDefault(fault.label(), 0L);
      String says =
          result
              .promises()
              .cell(fault)
              .map(cell -> cell.fault().title() + ": " + cell.answer().words())
              .orElse("must not be noticed");
      String seen = broke == 0 ? "" : ", and was: " + broke;
      rows.add(new Row(fault.label(), Long.toString(count), says + seen));
    }
    return rows;
  }

  private List<Row> figures() {
    Verdict verdict = result.verdict();
    Verdict.Figures figures = verdict.figures();
    List<Row> rows =
        new ArrayList<>(
            List.of(
                row("faults", result.faults()),
                row("holds written down", verdict.count(Kind.HOLDS)),
                row("  with those that were only counted", result.remote()),
                row("passes within a process, counted", result.local()),
                row("holds that were over before the worker knew", verdict.count(Kind.STALE)),
                row(
                    "holds of which the loss was seen",
                    verdict.count(Kind.LOST) + verdict.count(Kind.GAVE_LOST)),
                row("busy", verdict.count(Kind.BUSY)),
                row("timed out", verdict.count(Kind.TIMED_OUT)),
                row("store unavailable", verdict.count(Kind.OUTAGE)),
                row("writes taken", verdict.count(Kind.WROTE)),
                row("writes of stale holders refused", verdict.count(Kind.REFUSED)),
                row("waits whose order was judged", figures.inOrder())));
    figures
        .delays()
        .forEach(
            (rule, delays) ->
                rows.add(
                    new Row(
                        "wanted and free: " + cause(rule),
                        seconds(delays.most()),
                        String.format(
                            Locale.ROOT,
                            "the longest of %,d; 99 of 100 within %s",
                            delays.count(),
                            seconds(delays.perMille(990))))));
    rows.add(
        new Row(
            "the host did not run somebody for",
            seconds(figures.stalledNanos()),
            "pauses of the tool's own making included"));
    rows.add(row("leases lost though no fault was near", figures.unexplained()));
    return rows;
  }

  private static String cause(Rule rule) {
    return switch (rule) {
      case WAKE_UP -> "nothing was wrong";
      case LOST_WORD -> "words were lost";
      case SLOW -> "a client was slow";
      case CRASH_RELEASE -> "a client was silent or dead";
      case KILLED_WAITER -> "waiters had been killed";
      case QUEUE -> "clients in the queue had died";
      default -> "the store was away, or forgot";
    };
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
  }

  private static Row row(String what, long value) {
    return new Row(what, String.format(Locale.ROOT, "%,d", value), "");
  }

  /** As a page that needs nothing else. */
  public String html() {
    Map<String, String> slots =
        Map.of(
            "store", escaped(result.store()),
            "outcome", result.outcome().name(),
            "verdict", escaped(sentence()),
            "summary", escaped(summary()),
            "picture", picture(),
            "promises", table(promises()),
            "controls", table(controls()),
            "faults", table(faults()),
            "figures", table(figures()),
            "again", escaped(again));
    String page = template();
    for (Map.Entry<String, String> slot : slots.entrySet()) {
      page = page.replace("{{" + slot.getKey() + "}}", slot.getValue());
    }
    return page;
  }

  private String summary() {
    Plan plan = result.plan();
    return String.format(
        Locale.ROOT,
        "%d client processes of %d threads, %d locks that all want, TTL %d ms, seed %d, %d s."
            + " Faults: %s.",
        plan.processes(),
        plan.threads() + 3,
        plan.hot(),
        plan.ttl().toMillis(),
        plan.seed(),
        result.took().toSeconds(),
        plan.faults().stream().sorted().map(Fault::label).collect(Collectors.joining(", ")));
  }

  private static String template() {
    try (InputStream page = Report.class.getResourceAsStream("report.html")) {
      if (page == null) {
        throw new IllegalStateException("report.html is missing.");
      }
      return new String(page.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String table(List<Row> rows) {
    StringBuilder text = new StringBuilder();
    for (Row row : rows) {
      text.append("<tr><td>")
          .append(escaped(row.what))
          .append("<td class=\"number\">")
          .append(escaped(row.value))
          .append("<td>")
          .append(escaped(row.text))
          .append('\n');
    }
    return text.toString();
  }

  private String picture() {
    return new Picture(result.timeline()).svg();
  }

  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
