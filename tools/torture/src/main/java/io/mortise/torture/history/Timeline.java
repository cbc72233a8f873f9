package io.mortise.torture.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The holds of all locks over time, as seen by clients, for a chart. Consumes the same events as a
 * {@link HistoryChecker}. For one thread.
 */
public final class Timeline {
  private final long began;
  private final long length;

  private final Map<String, List<HeldSpan>> held = new TreeMap<>();
  private final List<FaultBand> faults = new ArrayList<>();
  private final List<ViolationMark> violationMarks = new ArrayList<>();
  private final Map<Integer, HeldSpan> holding = new HashMap<>();
  private final Map<Integer, Long> killed = new HashMap<>();
  private final Map<String, HistoryEvent> under = new HashMap<>();

  /** The end of a hold, as seen by its worker. */
  public enum HoldEnd {
    GAVE,
    /** It saw that its lease was no longer valid. */
    LOST,
    KILLED,
    /** The run ended before. */
    NONE
  }

  /**
   * A hold. Times are nanoseconds since the run began.
   *
   * @param from the moment after its worker first saw its lease valid
   * @param sure the last moment at which it saw it valid
   * @param ended the time of its release, detected loss or death; at least {@code sure}
   */
  public record DrawnHold(int process, long from, long sure, long ended, HoldEnd end) {}

  /** The common time of two beliefs to hold a lock. */
  public record Overlap(long from, long to, int process, int other) {}

  /** A fault with its affected process; 0 for none. */
  public record FaultBand(String fault, int process, long from, long to) {}

  /** A finding. */
  public record ViolationMark(String lock, long at, String text) {}

  /** A hold whose events are being consumed. */
  private static final class HeldSpan {
    private final int worker;
    private final long attempt;
    private final long from;
    private long sure;
    private long ended;
    private HoldEnd end = HoldEnd.NONE;

    HeldSpan(HistoryEvent holds, long from) {
      this.worker = holds.worker();
      this.attempt = holds.attempt();
      this.from = from;
      this.sure = from;
      this.ended = from;
    }

    int process() {
      return worker / HistoryEvent.PROCESS;
    }
  }

  /** Creates the timeline of a run between two moments. */
  public Timeline(long began, long ended) {
    this.began = began;
    this.length = Math.max(1, ended - began);
  }

  /** The duration of the run, in nanoseconds. */
  public long length() {
    return length;
  }

  private long since(long nanos) {
    return Math.max(0, Math.min(length, nanos - began));
  }

  /** Consumes an event. */
  public void take(HistoryEvent event) {
    long at = since(event.nanos());
    switch (event.kind()) {
      case HOLDS -> begin(event, at);
      case SURE -> {
        HeldSpan span = span(event);
        if (span != null) {
          span.sure = Math.max(span.sure, at);
        }
      }
      case GAVE -> end(event, HoldEnd.GAVE, at);
      case LOST, GAVE_LOST -> end(event, HoldEnd.LOST, at);
      // Its holds may be consumed later than this event.
      case KILLED -> killed.put(event.process(), at);
      case FAULT -> under.put(event.lock() + event.worker(), event);
      case HEALED -> {
        HistoryEvent fault = under.remove(event.lock() + event.worker());
        if (fault != null) {
          faults.add(new FaultBand(event.lock(), event.process(), since(fault.nanos()), at));
        }
      }
      default -> {}
    }
  }

  private void begin(HistoryEvent event, long at) {
    if (!event.lock().startsWith(HistoryChecker.OWN)) {
      HeldSpan span = new HeldSpan(event, at);
      held.computeIfAbsent(event.lock(), lock -> new ArrayList<>()).add(span);
      holding.put(event.worker(), span);
    }
  }

  private @Nullable HeldSpan span(HistoryEvent event) {
    HeldSpan span = holding.get(event.worker());
    return span == null || span.attempt != event.attempt() ? null : span;
  }

  /** The first event decides: the release of a lost lease adds nothing. */
  private void end(HistoryEvent event, HoldEnd end, long at) {
    HeldSpan span = span(event);
    if (span != null && span.end == HoldEnd.NONE) {
      span.end = end;
      span.ended = at;
    }
  }

  /** Marks a finding. */
  public void mark(HistoryViolation historyViolation) {
    violationMarks.add(
        new ViolationMark(
            historyViolation.lock(),
            since(historyViolation.nanos()),
            historyViolation.rule().promise() + ": " + historyViolation.text()));
  }

  /** The names of the held locks, in order. */
  public List<String> locks() {
    return List.copyOf(held.keySet());
  }

  /** The holds of a lock, in the order of their begin. */
  public List<DrawnHold> holds(String lock) {
    return held.getOrDefault(lock, List.of()).stream()
        .map(this::drawn)
        .sorted(Comparator.comparingLong(DrawnHold::from))
        .toList();
  }

  private DrawnHold drawn(HeldSpan span) {
    long death = killed.getOrDefault(span.process(), -1L);
    boolean isKilled = span.end == HoldEnd.NONE && death >= span.sure;
    return new DrawnHold(
        span.process(),
        span.from,
        span.sure,
        Math.max(span.sure, isKilled ? death : span.ended),
        isKilled ? HoldEnd.KILLED : span.end);
  }

  /** Times at which two workers believed to hold a lock. */
  public List<Overlap> overlaps(String lock) {
    List<Overlap> overlaps = new ArrayList<>();
    DrawnHold longest = null;
    for (DrawnHold hold : holds(lock)) {
      if (longest != null && hold.from < longest.sure && hold.sure > hold.from) {
        overlaps.add(
            new Overlap(
                hold.from, Math.min(hold.sure, longest.sure), longest.process, hold.process));
      }
      longest = longest == null || hold.sure > longest.sure ? hold : longest;
    }
    return overlaps;
  }

  /** The faults. */
  public List<FaultBand> faults() {
    return faults;
  }

  /** The findings. */
  public List<ViolationMark> marks() {
    return violationMarks;
  }
}
