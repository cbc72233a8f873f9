package io.mortise.torture.history;

/**
 * One line of a history: {@code nanos letter worker lock try token more}.
 *
 * @param nanos the host's monotonic clock, which all processes of a host share
 * @param kind the kind of event
 * @param worker process times 1,000 and number of the thread; 0 for the run itself
 * @param lock name of the lock, without blanks
 * @param attempt the number of the try of this worker, from 1 on; 0 if it is none
 * @param token see {@link EventKind}
 * @param more see {@link EventKind}
 */
public record HistoryEvent(
    long nanos, EventKind kind, int worker, String lock, long attempt, long token, int more) {
  /** Workers of one process. */
  public static final int PROCESS = 1_000;

  /** An event of the run itself, or of a process. */
  public static HistoryEvent ofRun(long nanos, EventKind kind, int process, String lock) {
    return new HistoryEvent(nanos, kind, process * PROCESS, lock, 0, 0, 0);
  }

  /** The process of the worker. */
  public int process() {
    return worker / PROCESS;
  }

  /** The event as a line, without its end. */
  public String line() {
    return nanos
        + " "
        + kind.letter
        + " "
        + worker
        + " "
        + lock
        + " "
        + attempt
        + " "
        + token
        + " "
        + more;
  }

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  public static HistoryEvent parse(String line) {
    String[] fields = line.split(" ", -1);
    if (fields.length != 7 || fields[1].length() != 1) {
      throw new IllegalArgumentException("Not an event: '" + line + "'.");
    }
    return new HistoryEvent(
        Long.parseLong(fields[0]),
        EventKind.of(fields[1].charAt(0)),
        Integer.parseInt(fields[2]),
        fields[3],
        Long.parseLong(fields[4]),
        Long.parseLong(fields[5]),
        Integer.parseInt(fields[6]));
  }
}
