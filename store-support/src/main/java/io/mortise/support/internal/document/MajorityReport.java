package io.mortise.support.internal.document;

import io.mortise.spi.StoreReport;

/** Reports the number of servers, of which a majority agrees on each write. */
public final class MajorityReport {
  /** The minimum number of servers that have a majority without one of them. */
  private static final int FEWEST = 3;

  private MajorityReport() {}

  /** Whether this number of servers has a majority without one of them. */
  public static boolean outlivesOne(int servers) {
    return servers >= FEWEST;
  }

  /**
   * Reports the number of servers.
   *
   * @param plural their name; also the id of the finding
   * @param count the number; 0 if it is unknown
   */
  public static void servers(StoreReport.Builder report, String plural, int count) {
    String shown = Integer.toString(count);
    if (count == 0) {
      report.unknown(plural, "The %s are not told to this client.".formatted(plural), "");
    } else if (outlivesOne(count)) {
      report.fine(plural, shown, "Locks go on while a minority of them is down.");
    } else {
      report.note(
          plural,
          shown,
          "No lock is granted or renewed while one of them is down.",
          "Run three or five %s.".formatted(plural));
    }
  }
}
