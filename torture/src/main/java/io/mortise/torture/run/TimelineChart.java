package io.mortise.torture.run;

import io.mortise.torture.history.Timeline;
import io.mortise.torture.history.Timeline.FaultBand;
import io.mortise.torture.history.Timeline.ViolationMark;
import java.util.Locale;
import java.util.Map;

/** Draws a timeline: a lane for each lock and process, faults as bands, findings in red. */
final class TimelineChart {
  private static final int LEFT = 130;
  private static final int LANE = 12;
  private static final int GAP = 14;
  private static final String[] COLOURS = {"#2f6db3", "#c77d1e", "#3d8f5a", "#8457a8", "#5b6b7a"};

  private final Timeline timeline;
  private final StringBuilder svg = new StringBuilder();

  TimelineChart(Timeline timeline) {
    this.timeline = timeline;
  }

  String svg() {
    int lanes = timeline.held().values().stream().mapToInt(Map::size).sum();
    int height = 2 * GAP + lanes * LANE + (timeline.held().size() + 1) * GAP;
    add(
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"timeline\">\n",
        LEFT + Timeline.COLUMNS + 10, height);
    timeline.faults().forEach(faultBand -> band(faultBand, height));
    int y = 2 * GAP;
    for (Map.Entry<String, Map<Integer, boolean[]>> lock : timeline.held().entrySet()) {
      int top = y;
      for (Map.Entry<Integer, boolean[]> process : lock.getValue().entrySet()) {
        add(
            "<text x=\"4\" y=\"%d\">%s, client %d</text>\n",
            y + LANE - 2, TortureReport.escaped(lock.getKey()), process.getKey());
        lane(process.getValue(), y, COLOURS[process.getKey() % COLOURS.length]);
        y += LANE;
      }
      for (ViolationMark violationMark : timeline.marks()) {
        if (violationMark.lock().equals(lock.getKey())) {
          mark(violationMark, top, y);
        }
      }
      y += GAP;
    }
    svg.append("</svg>");
    return svg.toString();
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values));
  }

  private void band(FaultBand faultBand, int height) {
    add(
        "<g><title>%s%s</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#f3d9a4\" opacity=\".6\"/>"
            + "<text x=\"%.1f\" y=\"11\">%s</text></g>\n",
        TortureReport.escaped(faultBand.fault()),
        faultBand.process() == 0 ? "" : ": client " + faultBand.process(),
        LEFT + faultBand.from(),
        GAP,
        Math.max(1.5, faultBand.to() - faultBand.from()),
        height - GAP,
        LEFT + faultBand.from(),
        TortureReport.escaped(faultBand.fault()));
  }

  private void lane(boolean[] columns, int y, String colour) {
    int from = -1;
    for (int i = 0; i <= columns.length; i++) {
      boolean held = i < columns.length && columns[i];
      if (held && from < 0) {
        from = i;
      } else if (!held && from >= 0) {
        add(
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
            LEFT + from, y + 1, i - from, LANE - 3, colour);
        from = -1;
      }
    }
  }

  private void mark(ViolationMark violationMark, int top, int bottom) {
    add(
        "<g><title>%s</title><line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#d3261e\" stroke-width=\"2\"/></g>\n",
        TortureReport.escaped(violationMark.text()),
        LEFT + violationMark.at(),
        LEFT + violationMark.at(),
        top,
        bottom);
  }
}
