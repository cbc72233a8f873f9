package io.mortise.cli.output;

import io.mortise.cli.view.FlightEvents.FlightEntry;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Events of locks in a table. */
public final class EventListing {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT);

  private EventListing() {}

  /**
   * Returns one line per event below a line of headings.
   *
   * @param columns the width of a line
   */
  public static List<String> lines(List<FlightEntry> events, ZoneId zone, int columns) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("TIME", "EVENT", "LOCK", "TOOK", "TOKEN", "DETAIL"));
    for (FlightEntry event : events) {
      rows.add(
          List.of(
              TIME.format(event.start().atZone(zone)),
              event.kind(),
              event.lock().isEmpty() ? "-" : OutputSanitizer.text(event.lock()),
              event.took().isZero() ? "-" : DurationText.format(event.took()),
              event.token() == 0 ? "-" : Long.toString(event.token()),
              OutputSanitizer.text(event.detail())));
    }
    return TextTable.lines(rows, columns);
  }
}
