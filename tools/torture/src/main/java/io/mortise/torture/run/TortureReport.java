package io.mortise.torture.run;

import io.mortise.spi.time.DurationText;
import io.mortise.torture.history.CheckResult;
import io.mortise.torture.history.EventKind;
import io.mortise.torture.history.HistoryViolation;
import io.mortise.torture.history.HistoryViolation.SafetyRule;
import io.mortise.torture.run.TortureRun.TortureResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The report of a run: lines for a terminal, and a page. */
public final class TortureReport {
  private static final Pattern SLOT = Pattern.compile("\\{\\{([a-z]+)}}");

  private record ReportRow(String what, String value, String text) {}

  private final TortureResult tortureResult;
  private final String again;

  /**
   * A report.
   *
   * @param again the command that repeats the run; has no password
   */
  public TortureReport(TortureResult tortureResult, String again) {
    this.tortureResult = tortureResult;
    this.again = again;
  }

  /** For a terminal. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (List<ReportRow> part : List.of(promises(), controls(), faults(), figures())) {
      for (ReportRow reportRow : part) {
        lines.add(
            String.format(
                    Locale.ROOT,
                    "  %-62s %10s  %s",
                    reportRow.what,
                    reportRow.value,
                    reportRow.text)
                .stripTrailing());
      }
    }
    for (HistoryViolation historyViolation : tortureResult.verdict().findings()) {
      lines.add(
          "  BROKEN: "
              + historyViolation.rule().promise()
              + ": "
              + historyViolation.lock()
              + ": "
              + historyViolation.text());
    }
    lines.add(tortureResult.store() + ": " + sentence());
    return lines;
  }

  private String sentence() {
    return switch (tortureResult.outcome()) {
      case KEPT -> "every promise was kept, and the controls broke as they must";
      case BROKEN -> "A PROMISE WAS BROKEN";
      case VOID -> "void: a control that must break did not, so that this run says nothing";
    };
  }

  private List<ReportRow> promises() {
    CheckResult checkResult = tortureResult.verdict();
    List<ReportRow> reportRows = new ArrayList<>();
    for (SafetyRule safetyRule : SafetyRule.values()) {
      long found = checkResult.found().getOrDefault(safetyRule, 0L);
      boolean isPromised =
          safetyRule != SafetyRule.PROGRESS || tortureResult.promises().servesAll();
      String kept = isPromised ? "kept" : "not promised";
      reportRows.add(
          new ReportRow(safetyRule.promise(), found == 0 ? kept : Long.toString(found), ""));
    }
    return reportRows;
  }

  private List<ReportRow> controls() {
    CheckResult checkResult = tortureResult.verdict();
    return List.of(
        new ReportRow(
            "control: a resource that checks no token, updates lost",
            Integer.toString(checkResult.openLosses()),
            checkResult.openLosses() > 0 ? "" : "must be more than 0"),
        new ReportRow(
            "control: a naive lock, overlaps and updates lost",
            Integer.toString(checkResult.naiveLosses()),
            checkResult.naiveLosses() > 0 ? "" : "must be more than 0"),
        new ReportRow(
            "control: a naive queue, times that it waited for the dead",
            Integer.toString(checkResult.naiveDelays()),
            checkResult.naiveDelays() > 0
                    || !tortureResult.plan().faults().contains(InjectedFault.KILL_WAITER)
                ? ""
                : "must be more than 0"));
  }

  /** A row for each fault: its number, its guarantee, and the observation. */
  private List<ReportRow> faults() {
    CheckResult checkResult = tortureResult.verdict();
    List<ReportRow> reportRows = new ArrayList<>();
    for (InjectedFault injectedFault : tortureResult.plan().faults().stream().sorted().toList()) {
      long count = checkResult.figures().faults().getOrDefault(injectedFault.label(), 0L);
      long broke = checkResult.expectedViolations().getOrDefault(injectedFault.label(), 0L);
      String says =
          tortureResult
              .promises()
              .cell(injectedFault)
              .map(cell -> cell.fault().title() + ": " + cell.answer().words())
              .orElse("must not be noticed");
      String seen = broke == 0 ? "" : ", and was: " + broke;
      reportRows.add(new ReportRow(injectedFault.label(), Long.toString(count), says + seen));
    }
    return reportRows;
  }

  private List<ReportRow> figures() {
    CheckResult checkResult = tortureResult.verdict();
    CheckResult.RunStatistics runStatistics = checkResult.figures();
    List<ReportRow> reportRows =
        new ArrayList<>(
            List.of(
                row("faults", tortureResult.faults()),
                row("holds written down", checkResult.count(EventKind.HOLDS)),
                row("  with those that were only counted", tortureResult.remote()),
                row("passes within a process, counted", tortureResult.local()),
                row("idle grants of sticky locks taken again", tortureResult.retaken()),
                row("busy, as an idle holder did not answer", tortureResult.unanswered()),
                row(
                    "holds that were over before the worker knew",
                    checkResult.count(EventKind.STALE)),
                row(
                    "holds of which the loss was seen",
                    checkResult.count(EventKind.LOST) + checkResult.count(EventKind.GAVE_LOST)),
                row("busy", checkResult.count(EventKind.BUSY)),
                row("timed out", checkResult.count(EventKind.TIMED_OUT)),
                row("store unavailable", checkResult.count(EventKind.OUTAGE)),
                row("writes taken", checkResult.count(EventKind.WROTE)),
                row("writes of stale holders refused", checkResult.count(EventKind.REFUSED)),
                row("waits whose order was judged", runStatistics.inOrder()),
                row(
                    "processes that got nothing for 20 TTLs in which others held",
                    tortureResult.unserved())));
    runStatistics
        .delays()
        .forEach(
            (safetyRule, delays) ->
                reportRows.add(
                    new ReportRow(
                        "wanted and free: " + cause(safetyRule),
                        seconds(delays.most()),
                        String.format(
                            Locale.ROOT,
                            "the longest of %,d; 99 of 100 within %s",
                            delays.count(),
                            seconds(delays.perMille(990))))));
    reportRows.add(
        new ReportRow(
            "the host did not run somebody for",
            seconds(runStatistics.stalledNanos()),
            "pauses of the tool's own making included"));
    reportRows.add(row("leases lost though no fault was near", runStatistics.unexplained()));
    return reportRows;
  }

  private static String cause(SafetyRule safetyRule) {
    return switch (safetyRule) {
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

  private static ReportRow row(String what, long value) {
    return new ReportRow(what, String.format(Locale.ROOT, "%,d", value), "");
  }

  /** A self-contained page. */
  public String html() {
    TimelinePage picture = new TimelinePage(tortureResult.timeline());
    Map<String, String> slots =
        Map.ofEntries(
            Map.entry("store", escaped(tortureResult.store())),
            Map.entry("outcome", tortureResult.outcome().name()),
            Map.entry("verdict", escaped(sentence())),
            Map.entry("summary", escaped(summary())),
            Map.entry("promises", table(promises())),
            Map.entry("controls", table(controls())),
            Map.entry("faults", table(faults())),
            Map.entry("figures", table(figures())),
            Map.entry("again", escaped(again)),
            Map.entry("style", TimelinePage.style()),
            Map.entry("imports", TimelinePage.imports()),
            Map.entry("data", picture.data()),
            Map.entry("script", resource("report.js")));
    return SLOT.matcher(resource("report.html"))
        .replaceAll(slot -> Matcher.quoteReplacement(slots.getOrDefault(slot.group(1), "")));
  }

  private String summary() {
    TorturePlan torturePlan = tortureResult.plan();
    return String.format(
        Locale.ROOT,
        "%d client processes of %d threads, %d locks that all want, TTL %s, seed %d, %s."
            + " Faults: %s.",
        torturePlan.processes(),
        torturePlan.threads() + 3,
        torturePlan.hot(),
        DurationText.formatExact(torturePlan.ttl()),
        torturePlan.seed(),
        DurationText.format(tortureResult.took()),
        torturePlan.faults().stream()
            .sorted()
            .map(InjectedFault::label)
            .collect(Collectors.joining(", ")));
  }

  private static String resource(String name) {
    try (InputStream file = TortureReport.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalStateException(name + " is missing.");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String table(List<ReportRow> reportRows) {
    StringBuilder text = new StringBuilder();
    for (ReportRow reportRow : reportRows) {
      text.append("<tr><td>")
          .append(escaped(reportRow.what))
          .append("<td class=\"number\">")
          .append(escaped(reportRow.value))
          .append("<td>")
          .append(escaped(reportRow.text))
          .append('\n');
    }
    return text.toString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
