package io.mortise.cli.top;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.output.LockListing;
import io.mortise.cli.output.TextTable;
import io.mortise.cli.output.TextWidth;
import io.mortise.cli.output.WaitListing;
import io.mortise.cli.top.ScreenLine.Style;
import io.mortise.console.observer.ObservedEvent;
import io.mortise.console.observer.Outages.Outage;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.console.view.WaitGraph;
import io.mortise.spi.time.DurationText;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Renders a {@link TopModel} as lines of the screen. */
final class TopView {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private static final List<String> HELP =
      List.of(
          "↑ ↓ j k           choose a lock; in a lock, a holder or a waiter",
          "PgUp PgDn         a screen further; Home and End: the first and the last",
          "Enter             open the lock: its holders, its queue, what happened last",
          "Esc               back",
          "/                 only locks whose name, process or label has this text; Esc ends that.",
          "                  Enter opens a lock of this name if no other is found",
          "s                 another order: trouble, name, held, waiting",
          "w                 the waits, as mortise waits lists them",
          "p                 hold still, and go on",
          "e                 evict: the holder is told to let go, and the lock stays shut until it has",
          "E                 evict now: the lock is free at once, and two may work at the same time",
          "q, Ctrl-C         end",
          "",
          "TROUBLE is cycle (a possible deadlock), gone (the holder's process is), long (held for over",
          "three times as long as usual and above 10 s, from 10 holds on), waited, shut. The worst",
          "stands first.",
          "Locks are seen by looking: holds that are shorter than two seconds may be missing.",
          "Looking takes 1% of the store's time at most, besides the start and a lock that is open.");

  private final String store;
  private final ZoneId zone;

  TopView(String store, ZoneId zone) {
    this.store = store;
    this.zone = zone;
  }

  /** Returns as many lines as the screen has, none wider than it. */
  List<ScreenLine> lines(TopModel model, int columns, int rows) {
    List<ScreenLine> head = head(model);
    List<ScreenLine> foot = foot(model, columns);
    int room = Math.max(1, rows - head.size() - foot.size());
    model.pageSize(room - 1);
    List<ScreenLine> lines = new ArrayList<>(head);
    List<ScreenLine> body = body(model, columns, room);
    lines.addAll(body.subList(0, Math.min(room, body.size())));
    while (lines.size() < rows - foot.size()) {
      lines.add(ScreenLine.plain(""));
    }
    lines.addAll(foot);
    // If the screen is too low, a question has priority over the lines above it.
    return lines.stream()
        .skip(Math.max(0, lines.size() - rows))
        .map(line -> new ScreenLine(TextWidth.cut(line.text(), columns), line.style()))
        .toList();
  }

  private List<ScreenLine> head(TopModel model) {
    List<ScreenLine> lines = new ArrayList<>();
    TopSnapshot snapshot = model.snapshot();
    if (snapshot == null) {
      return List.of(new ScreenLine("mortise top  " + store, Style.STRONG));
    }
    lines.add(
        new ScreenLine(
            "mortise top  "
                + store
                + "  "
                + clock(snapshot.now())
                + (model.isPaused() ? "  STOPPED (p goes on)" : ""),
            Style.STRONG));
    Outage outage = snapshot.outage();
    if (outage != null) {
      lines.add(
          new ScreenLine(
              "The store does not answer since "
                  + clock(outage.since())
                  + ", and all below is as of then: "
                  + OutputSanitizer.text(outage.message()),
              Style.ALARM));
    }
    snapshot
        .deadlocks()
        .forEach(
            who ->
                lines.add(
                    new ScreenLine(
                        "Possible deadlock: " + OutputSanitizer.text(who) + " (w shows it)",
                        Style.ALARM)));
    lines.add(
        ScreenLine.plain(
            snapshot.surveyed()
                ? snapshot.locks()
                    + "; looking took "
                    + percent(snapshot.used())
                    + " of the store's time"
                : "looking at all locks for the first time …"));
    lines.add(ScreenLine.plain(""));
    return lines;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f%%", share * 100);
  }

  private String clock(Instant at) {
    return TIME.format(at.atZone(zone));
  }

  private static List<ScreenLine> foot(TopModel model, int columns) {
    List<ScreenLine> lines = new ArrayList<>();
    TopDialog dialog = model.dialog();
    if (dialog != null) {
      dialog.lines().forEach(line -> addWrapped(line, columns, lines));
      return lines;
    }
    if (model.isFiltering()) {
      lines.add(new ScreenLine("/" + OutputSanitizer.text(model.filter()) + "_", Style.STRONG));
      return lines;
    }
    if (model.message().isEmpty()) {
      lines.add(new ScreenLine(keys(model), Style.DIM));
    } else {
      addWrapped(OutputSanitizer.text(model.message()), columns, lines);
    }
    return lines;
  }

  /** Adds a text that must not be cut, in as many lines as necessary. */
  private static void addWrapped(String text, int columns, List<ScreenLine> lines) {
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && TextWidth.of(line + " " + word) > columns) {
        lines.add(new ScreenLine(line.toString(), Style.STRONG));
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(new ScreenLine(line.toString(), Style.STRONG));
  }

  private static String keys(TopModel model) {
    List<String> keys = new ArrayList<>();
    boolean onLocks = model.page() == TopModel.TopPage.LOCKS;
    keys.add(onLocks ? "Enter open" : "Esc back");
    if (onLocks) {
      keys.add("/ filter" + (model.filter().isEmpty() ? "" : ": " + model.filter()));
      keys.add("s order: " + model.order());
    }
    keys.add("w waits");
    keys.add("p stop");
    boolean onParties = onLocks || model.page() == TopModel.TopPage.LOCK;
    if (onParties && model.mayEvict()) {
      keys.add("e evict");
    }
    if (onParties && model.mayEvictNow()) {
      keys.add("E evict now");
    }
    keys.add("? help");
    keys.add("q end");
    return OutputSanitizer.text(String.join("   ", keys));
  }

  private List<ScreenLine> body(TopModel model, int columns, int room) {
    TopSnapshot snapshot = model.snapshot();
    if (snapshot == null) {
      return List.of();
    }
    return switch (model.page()) {
      case LOCKS -> locks(model, snapshot, columns, room);
      case LOCK -> lock(model, snapshot, columns, room);
      case WAITS -> scrolled(waits(snapshot), model.scroll(), room);
      case HELP -> scrolled(HELP.stream().map(ScreenLine::plain).toList(), model.scroll(), room);
    };
  }

  private static List<ScreenLine> locks(
      TopModel model, TopSnapshot snapshot, int columns, int room) {
    if (snapshot.rows().isEmpty()) {
      return List.of(
          ScreenLine.plain(
              !model.filter().isEmpty()
                  ? "No lock is like '"
                      + OutputSanitizer.text(model.filter())
                      + "'. Enter asks the store for one of this name."
                  : snapshot.surveyed() ? "No lock is held or waited for." : ""));
    }
    int shown = Math.max(1, room - 2);
    int from = Math.max(0, Math.min(model.cursor() - shown / 2, snapshot.rows().size() - shown));
    List<TopRow> rows =
        snapshot.rows().subList(from, Math.min(from + shown, snapshot.rows().size()));
    List<List<String>> cells = new ArrayList<>();
    cells.add(TopRow.headings());
    rows.forEach(row -> cells.add(row.cells()));
    List<String> texts = TextTable.lines(cells, columns);
    List<ScreenLine> lines = new ArrayList<>();
    lines.add(new ScreenLine(texts.get(0), Style.STRONG));
    for (int i = 0; i < rows.size(); i++) {
      boolean selected = from + i == model.cursor();
      lines.add(
          new ScreenLine(
              selected ? padded(texts.get(i + 1), columns) : texts.get(i + 1),
              selected ? Style.SELECTED : style(rows.get(i))));
    }
    if (rows.size() < snapshot.chosen()) {
      lines.add(
          new ScreenLine(
              (from + 1) + " to " + (from + rows.size()) + " of " + snapshot.chosen(), Style.DIM));
    }
    return lines;
  }

  private static Style style(TopRow row) {
    if (row.troubles().isEmpty()) {
      return Style.PLAIN;
    }
    return switch (row.troubles().iterator().next()) {
      case CYCLE, GONE -> Style.BAD;
      case LONG, WAITED -> Style.WORRY;
      case SHUT -> Style.DIM;
    };
  }

  private List<ScreenLine> lock(TopModel model, TopSnapshot snapshot, int columns, int room) {
    SeenLock seen = model.detail();
    if (seen == null) {
      return List.of(ScreenLine.plain(OutputSanitizer.text(model.open()) + ": looking …"));
    }
    LockInfo lock = seen.info();
    List<String> texts = LockListing.details(lock, seen.at().atZone(zone), columns);
    List<LockParticipant> parties =
        Stream.concat(lock.holders().stream(), lock.waiters().stream()).toList();
    List<ScreenLine> lines = new ArrayList<>();
    int chosenLine = 0;
    for (int i = 0; i < texts.size(); i++) {
      // The first line describes the lock, the second has the headings.
      int party = i - 2;
      boolean isParty = party >= 0 && party < parties.size();
      boolean selected = isParty && parties.get(party).attempt().equals(model.chosenAttempt());
      chosenLine = selected ? i : chosenLine;
      Style style = i == 0 || (i == 1 && !parties.isEmpty()) ? Style.STRONG : Style.PLAIN;
      lines.add(
          new ScreenLine(
              selected ? padded(texts.get(i), columns) : texts.get(i),
              selected ? Style.SELECTED : style));
    }
    List<ScreenLine> below = below(snapshot);
    int from = Math.max(0, chosenLine - (room - 2));
    int shown = Math.max(1, room - (from == 0 ? Math.min(below.size(), room / 2) : 0));
    List<ScreenLine> body =
        new ArrayList<>(lines.subList(from, Math.min(lines.size(), from + shown)));
    body.addAll(below);
    return body;
  }

  private List<ScreenLine> below(TopSnapshot snapshot) {
    List<ScreenLine> lines = new ArrayList<>();
    if (snapshot.usual() != null) {
      lines.add(
          new ScreenLine("  usually held for " + DurationText.format(snapshot.usual()), Style.DIM));
    }
    if (!snapshot.events().isEmpty()) {
      lines.add(ScreenLine.plain(""));
      lines.add(new ScreenLine("What happened last", Style.STRONG));
      snapshot.events().forEach(event -> lines.add(ScreenLine.plain("  " + told(event))));
    }
    return lines;
  }

  private String told(ObservedEvent event) {
    String who = event.client() == null ? "" : "  " + LockFormatter.client(event.client());
    String held = event.held() == null ? "" : "  held " + DurationText.format(event.held());
    String text = event.text() == null ? event.label() : event.text();
    return clock(event.at())
        + "  "
        + event.kind().toString().replace('_', ' ')
        + who
        + held
        + (text.isEmpty() ? "" : "  " + OutputSanitizer.text(text));
  }

  private static List<ScreenLine> waits(TopSnapshot snapshot) {
    WaitGraph graph = new WaitGraph(snapshot.waited());
    List<String> lines = WaitListing.lines(graph, snapshot.waited(), graph.cycles());
    return lines.isEmpty()
        ? List.of(ScreenLine.plain("Nobody waits."))
        : lines.stream().map(ScreenLine::plain).toList();
  }

  private static List<ScreenLine> scrolled(List<ScreenLine> lines, int scroll, int room) {
    int from = Math.max(0, Math.min(scroll, lines.size() - room));
    return lines.subList(from, lines.size());
  }

  private static String padded(String text, int columns) {
    return text + " ".repeat(Math.max(0, columns - TextWidth.of(text)));
  }
}
