package io.mortise.simulation;

import io.mortise.internal.runtime.EngineScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Virtual time and its events, on one thread. Two runs from one seed are the same event for event.
 */
final class VirtualTimeScheduler {
  static final long MICRO = 1_000;
  static final long MILLI = 1_000_000;
  static final long SECOND = 1_000_000_000;
  static final long DAY = 86_400 * SECOND;

  private final SplittableRandom root;
  private final PriorityQueue<ScheduledEvent> events = new PriorityQueue<>();
  private final List<String> trace = new ArrayList<>();
  private final boolean traced;
  private long now;
  private long sequence;
  private long steps;

  VirtualTimeScheduler(long seed, boolean traced) {
    this.root = new SplittableRandom(seed);
    this.traced = traced;
  }

  /**
   * Returns an independent source of randomness: draws of one part do not shift those of another.
   */
  SplittableRandom random() {
    return root.split();
  }

  /** True time in nanoseconds, unknown to simulated processes. */
  long now() {
    return now;
  }

  /** The number of past events. */
  long steps() {
    return steps;
  }

  /** Schedules an event of the world or the server, which nothing delays. */
  ScheduledEvent at(long time, Runnable action) {
    return add(new ScheduledEvent(time, null, Long.MIN_VALUE, action));
  }

  /**
   * Schedules an event of a process: delayed while the process is paused, dropped if it has died.
   */
  ScheduledEvent at(long time, SimProcess simProcess, Runnable action) {
    return add(new ScheduledEvent(time, simProcess, Long.MIN_VALUE, action));
  }

  /** Schedules an event of a process, not before its own clock shows {@code due}. */
  ScheduledEvent whenDue(SimProcess simProcess, long due, Runnable action) {
    return add(new ScheduledEvent(simProcess.host.trueTime(due), simProcess, due, action));
  }

  private ScheduledEvent add(ScheduledEvent event) {
    event.time = Math.max(event.time, now);
    event.sequence = sequence++;
    events.add(event);
    return event;
  }

  void runUntil(long end) {
    while (!events.isEmpty() && events.peek().time <= end) {
      ScheduledEvent event = events.poll();
      now = event.time;
      if (event.cancelled) {
        continue;
      }
      SimProcess simProcess = event.simProcess;
      if (simProcess == null) {
        steps++;
        event.action.run();
        continue;
      }
      if (!simProcess.alive) {
        continue;
      }
      long runs = simProcess.host.runsAt(now);
      if (runs > now) {
        event.time = runs;
        events.add(event);
      } else if (event.due != Long.MIN_VALUE && event.due - simProcess.host.nanos() > 0) {
        event.time = Math.max(now + 1, simProcess.host.trueTime(event.due));
        events.add(event);
      } else {
        steps++;
        event.action.run();
        simProcess.observe();
      }
    }
    now = Math.max(now, end);
  }

  void trace(Supplier<String> line) {
    if (traced) {
      trace.add(String.format("%12.3f ms  %s", now / 1e6, line.get()));
    }
  }

  List<String> trace() {
    return trace;
  }

  static final class ScheduledEvent
      implements Comparable<ScheduledEvent>, EngineScheduler.ScheduledTimer {
    private long time;
    private long sequence;
    private final SimProcess simProcess;
    private final long due;
    private final Runnable action;
    private boolean cancelled;

    ScheduledEvent(long time, SimProcess simProcess, long due, Runnable action) {
      this.time = time;
      this.simProcess = simProcess;
      this.due = due;
      this.action = action;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }

    @Override
    public int compareTo(ScheduledEvent other) {
      int byTime = Long.compare(time, other.time);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }
}
