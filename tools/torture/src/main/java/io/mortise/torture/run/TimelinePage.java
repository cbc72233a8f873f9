package io.mortise.torture.run;

import io.mortise.torture.history.HistoryChecker;
import io.mortise.torture.history.Timeline;
import io.mortise.torture.history.Timeline.DrawnHold;
import io.mortise.torture.history.Timeline.FaultBand;
import io.mortise.torture.history.Timeline.Overlap;
import io.mortise.torture.history.Timeline.ViolationMark;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A timeline as parts of a page: its data, and the console's component that draws it. The modules
 * of that component are inlined, as addresses of an import map.
 */
final class TimelinePage {
  private static final String CONSOLE = "META-INF/mortise/console/";

  /** Modules of the console, and the names by which they import each other here. */
  private static final List<String> MODULES =
      List.of("dom.js", "text.js", "width.js", "timeline.js");

  private static final Map<String, String> LIBRARY =
      Map.of(
          "preact", "preact/preact.module.js",
          "preact/hooks", "preact/hooks.module.js");

  private static final Pattern RELATIVE = Pattern.compile("from '\\./([a-z]+\\.js)'");

  /** The most holds, a page of two megabytes. Beyond that the shortest are omitted. */
  private static final int MOST = 60_000;

  private final Timeline timeline;

  TimelinePage(Timeline timeline) {
    this.timeline = timeline;
  }

  /** The JSON of an import map. */
  static String imports() {
    Map<String, String> imports = new LinkedHashMap<>();
    for (String module : MODULES) {
      imports.put(module, RELATIVE.matcher(console(module)).replaceAll("from '$1'"));
    }
    LIBRARY.forEach((name, file) -> imports.put(name, console(file)));
    return imports.entrySet().stream()
        .map(entry -> quoted(entry.getKey()) + ": " + quoted(address(entry.getValue())))
        .collect(Collectors.joining(",\n", "{\"imports\": {\n", "\n}}"));
  }

  private static String address(String source) {
    return "data:text/javascript;base64,"
        + Base64.getEncoder().encodeToString(source.getBytes(StandardCharsets.UTF_8));
  }

  /** The colours of the console in both themes, and the rules of its timeline. */
  static String style() {
    String all = console("style.css");
    String tokens = all.substring(all.indexOf(":root {"), all.indexOf("/* ---- Ground"));
    return all.lines()
        .filter(line -> line.startsWith(".time"))
        .collect(Collectors.joining("\n", tokens, "\n"));
  }

  private static String console(String file) {
    try (InputStream in = TimelinePage.class.getClassLoader().getResourceAsStream(CONSOLE + file)) {
      if (in == null) {
        throw new IllegalStateException(
            "Resource " + CONSOLE + file + " is missing. Put mortise-console on the class path.");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The data, in microseconds since the begin of the run. */
  String data() {
    Map<String, List<DrawnHold>> holds = new LinkedHashMap<>();
    timeline.locks().forEach(lock -> holds.put(lock, timeline.holds(lock)));
    long shortest = shortest(holds);
    List<String> locks = new ArrayList<>();
    holds.forEach((lock, all) -> locks.add(lock(lock, all, shortest)));
    return "{\"length\": "
        + micros(timeline.length())
        + ", \"leftOut\": "
        + micros(shortest)
        + ",\n\"faults\": "
        + list(timeline.faults().stream().map(TimelinePage::fault).toList())
        + ",\n\"marks\": "
        + list(timeline.marks().stream().map(TimelinePage::mark).toList())
        + ",\n\"locks\": "
        + list(locks)
        + "}";
  }

  /** The duration, in nanoseconds, below which holds are omitted. */
  private static long shortest(Map<String, List<DrawnHold>> holds) {
    List<Long> lengths =
        holds.values().stream()
            .flatMap(List::stream)
            .map(hold -> hold.ended() - hold.from())
            .sorted()
            .toList();
    return lengths.size() <= MOST ? 0 : lengths.get(lengths.size() - MOST);
  }

  private String lock(String name, List<DrawnHold> holds, long shortest) {
    return "{\"name\": "
        + quoted(name)
        + ", \"what\": "
        + quoted(what(name))
        + ",\n \"overlaps\": "
        + list(timeline.overlaps(name).stream().map(TimelinePage::overlap).toList())
        + ",\n \"holds\": "
        + list(
            holds.stream()
                .filter(hold -> hold.ended() - hold.from() >= shortest)
                .map(TimelinePage::hold)
                .toList())
        + "}";
  }

  /** The purpose of a lock, by its name. */
  private static String what(String lock) {
    Map<String, String> kinds = new LinkedHashMap<>();
    kinds.put(HistoryChecker.NAIVE_QUEUE, "control: a queue that waits for the dead");
    kinds.put(HistoryChecker.NAIVE, "control: a naive lock, freed by any release");
    kinds.put(
        HistoryChecker.OPEN, "control: a lock of Mortise before a resource that checks no token");
    kinds.put(HistoryChecker.FAIR, "fair, in the order of its queue");
    kinds.put(HistoryChecker.STICKY, "stays with its process while nobody else wants it");
    kinds.put(HistoryChecker.QUEUE, "wanted by processes that are killed");
    return kinds.entrySet().stream()
        .filter(kind -> lock.startsWith(kind.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("wanted by all");
  }

  /** A hold: begin, length until last seen valid, length until its end, process, kind of end. */
  private static String hold(DrawnHold hold) {
    int end =
        switch (hold.end()) {
          case GAVE -> 0;
          case LOST -> 1;
          case KILLED -> 2;
          case NONE -> 3;
        };
    return String.format(
        Locale.ROOT,
        "[%d,%d,%d,%d,%d]",
        micros(hold.from()),
        micros(hold.sure() - hold.from()),
        micros(hold.ended() - hold.from()),
        hold.process(),
        end);
  }

  private static String overlap(Overlap overlap) {
    return String.format(
        Locale.ROOT,
        "[%d,%d,%d,%d]",
        micros(overlap.from()),
        Math.max(1, micros(overlap.to() - overlap.from())),
        overlap.process(),
        overlap.other());
  }

  private static String fault(FaultBand fault) {
    return String.format(
        Locale.ROOT,
        "[%s,%d,%d,%d]",
        quoted(fault.fault()),
        fault.process(),
        micros(fault.from()),
        micros(fault.to()));
  }

  private static String mark(ViolationMark mark) {
    return "[" + quoted(mark.lock()) + "," + micros(mark.at()) + "," + quoted(mark.text()) + "]";
  }

  private static long micros(long nanos) {
    return nanos / 1000;
  }

  private static String list(List<String> items) {
    return items.stream().collect(Collectors.joining(",\n", "[", "]"));
  }

  /** A JSON text that cannot end the surrounding script. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.chars()
        .forEach(
            c -> {
              if (c < ' ' || c == '"' || c == '\\' || c == '<' || c > '~') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", c));
              } else {
                quoted.append((char) c);
              }
            });
    return quoted.append('"').toString();
  }
}
