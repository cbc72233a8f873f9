package io.mortise.torture.history;

import io.mortise.torture.history.Effect.Delay;
import io.mortise.torture.history.Finding.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What went wrong when, and what that excuses. Takes events in; for one thread. */
final class Trouble {
  /** After a store was lost it may take this much longer than a TTL: sessions are opened anew. */
  private static final long ANEW = 500_000_000;

  /**
   * A fault from its beginning to its end.
   *
   * @param process to which it was done; 0 for the store
   */
  record Span(String fault, int process, long from, long until, Effect effect) {
    /** Whether it may keep this process from what it wants of the store. */
    boolean touches(int other) {
      return process == 0 || process == other || effect.delay() == Delay.STORE;
    }
  }

  /** A time in which the host ran nothing of a process; 0 is the run itself. */
  private record Stall(int process, long from, long until) {}

  /** What takes less than this part of a TTL nobody writes down. */
  private static final int UNSEEN = 20;

  private final long ttl;
  private final long patience;
  private final Map<String, Effect> effects;
  private final Map<String, Event> open = new HashMap<>();
  private final Map<Integer, Event> down = new HashMap<>();
  private final List<Span> spans = new ArrayList<>();
  private final Map<Integer, List<Span>> ofProcess = new HashMap<>();
  private final List<Span> outages = new ArrayList<>();
  private final List<Stall> stalls = new ArrayList<>();
  private final List<Event> losses = new ArrayList<>();
  private @Nullable List<Event> unexplained;
  private long healed = Long.MIN_VALUE;
  private long stalled;

  Trouble(long ttl, long patience, Map<String, Effect> effects) {
    this.ttl = ttl;
    this.patience = patience;
    this.effects = Map.copyOf(effects);
  }

  void take(Event event) {
    switch (event.kind()) {
      case FAULT -> open.put(event.lock() + " " + event.process(), event);
      case HEALED -> {
        healed = Math.max(healed, event.nanos());
        Event began = open.remove(event.lock() + " " + event.process());
        if (began != null) {
          Span span =
              new Span(event.lock(), event.process(), began.nanos(), event.nanos(), effect(event));
          spans.add(span);
          ofProcess.computeIfAbsent(event.process(), process -> new ArrayList<>()).add(span);
        }
      }
      case DOWN -> down.put(event.process(), event);
      case UP -> {
        Event began = down.remove(event.process());
        if (began != null) {
          outages.add(
              new Span(event.lock(), event.process(), began.nanos(), event.nanos(), effect(event)));
        }
      }
      case STALLED -> {
        stalled += event.token();
        stalls.add(new Stall(event.process(), event.nanos() - event.token(), event.nanos()));
      }
      case LOST, GAVE_LOST, STALE -> losses.add(event);
      default -> throw new IllegalArgumentException("Not trouble: " + event);
    }
  }

  private Effect effect(Event event) {
    return effects.getOrDefault(event.lock(), Effect.of(Delay.STORE));
  }

  List<Span> spans() {
    return spans;
  }

  /** When the last fault was over; {@code Long.MIN_VALUE} if there was none. */
  long healed() {
    return healed;
  }

  /** For how long the host ran nothing of some process, in all. */
  long stalledNanos() {
    return stalled;
  }

  /** Leases that were lost though no fault was near: the host ran their server too seldom. */
  List<Event> unexplained() {
    List<Event> found = unexplained;
    if (found == null) {
      found = new ArrayList<>();
      for (Event loss : losses) {
        boolean near =
            spans.stream()
                .filter(span -> span.touches(loss.process()))
                .anyMatch(
                    span ->
                        span.from <= loss.nanos()
                            && loss.nanos() <= span.until + 2 * ttl + patience);
        if (!near) {
          found.add(loss);
        }
      }
      unexplained = found;
    }
    return found;
  }

  /** Whether nothing was wrong, nor had its end less than a TTL before. */
  boolean isCalm(long from, long until) {
    return spans.stream()
            .noneMatch(span -> span.from <= until && from <= span.until + ttl + patience)
        && stalls.stream().noneMatch(stall -> stall.from <= until && from <= stall.until)
        && unexplained().stream()
            .noneMatch(loss -> loss.nanos() >= from - ttl && loss.nanos() <= until + ttl);
  }

  /** The fault that explains why a promise was broken then, if the table says that it may. */
  @Nullable Span excuse(Rule rule, long nanos) {
    for (Span span : spans) {
      if (span.effect.mayBreak().contains(rule)
          && span.from <= nanos
          && nanos <= span.until + 2 * ttl) {
        return span;
      }
    }
    return null;
  }

  /** Whether all that this process asked for in this time could not be answered by the store. */
  boolean isOutage(int process, long from, long until) {
    return outages.stream()
        .anyMatch(
            outage ->
                (outage.process == 0 || outage.process == process)
                    && outage.from <= from
                    && until <= outage.until);
  }

  /** When a process fell silent between two moments, if it did; else the second one. */
  long silentSince(int process, long from, long until) {
    return ofProcess.getOrDefault(process, List.of()).stream()
        .filter(span -> process != 0 && span.effect.isSilence())
        .filter(span -> from < span.from && span.from < until)
        .mapToLong(Span::from)
        .min()
        .orElse(until);
  }

  /** Whether something was done to the process in this time. */
  boolean suffered(int process, long from, long until) {
    return process != 0
        && ofProcess.getOrDefault(process, List.of()).stream()
            .anyMatch(span -> span.from <= until && from <= span.until);
  }

  /**
   * When all was over that was done to the process, or to the store, in this time, also if that is
   * known only by leases that the process lost then; {@code Long.MIN_VALUE} if nothing was.
   */
  long disturbedUntil(int process, long from, long until) {
    LongStream faults =
        spans.stream()
            .filter(span -> span.touches(process))
            .filter(span -> span.from <= until && from <= span.until)
            .mapToLong(Span::until);
    LongStream lost =
        unexplained().stream()
            .filter(loss -> loss.process() == process)
            .mapToLong(Event::nanos)
            // A worker looks now and then whether it still holds.
            .filter(nanos -> from <= nanos && nanos <= until + ttl / 3);
    return LongStream.concat(faults, lost).max().orElse(Long.MIN_VALUE);
  }

  /** Until when a lock that somebody wants may stay shut, and by which rule. */
  record Bound(Rule rule, long nanos) {}

  /**
   * @param from since when somebody waits and nobody holds
   * @param until when somebody held
   */
  Bound bound(long from, long until) {
    long third = ttl / 3 + patience;
    Bound bound = new Bound(Rule.WAKE_UP, from + third);
    for (Span span : spans) {
      if (span.effect.isOfWaiter() || until < span.from || from > effective(span)) {
        continue;
      }
      long latest =
          switch (span.effect.delay()) {
            case LOST_WORD -> Math.max(from, span.until) + third;
            case SLOW -> Math.max(from, span.from) + ttl + patience;
            case PROCESS -> Math.max(from + ttl / 3, span.from + ttl) + patience;
            case STORE -> Math.max(from + ttl / 3, span.until + ttl) + patience + ANEW;
            case WAITER, WAITER_BY_SESSION -> bound.nanos;
          };
      if (latest >= bound.nanos) {
        bound = new Bound(span.effect.delay().rule, latest);
      }
    }
    for (Event loss : unexplained()) {
      long latest = Math.max(from + ttl / 3, loss.nanos() + ttl) + patience;
      if (until >= loss.nanos() - ttl && from <= loss.nanos() + ttl && latest > bound.nanos) {
        bound = new Bound(Delay.PROCESS.rule, latest);
      }
    }
    return new Bound(bound.rule, bound.nanos + excused(from, until));
  }

  private long excused(long from, long until) {
    long excused = 0;
    for (Stall stall : stalls) {
      long both = Math.min(until, stall.until) - Math.max(from, stall.from);
      // One that was made by a fault excuses nobody else.
      if (both > 0 && !suffered(stall.process, stall.from, stall.until)) {
        excused += both;
      }
    }
    return excused;
  }

  /** The same for a lock in whose queue processes stand that hold nothing else, and die. */
  Bound bound(Waits.Gap gap) {
    Bound bound = bound(gap.from(), gap.until());
    Bound afterWaiters = afterKilledWaiters(gap, ttl / UNSEEN);
    if (afterWaiters != null && bound.rule == Rule.WAKE_UP && !isJudgedBySession()) {
      return afterWaiters;
    }
    long afterDeaths = afterDeaths(gap);
    return afterDeaths <= bound.nanos
        ? bound
        : new Bound(Rule.QUEUE, afterDeaths + excused(gap.from(), gap.until()));
  }

  private boolean isJudgedBySession() {
    return deaths().anyMatch(death -> death.effect.delay() == Delay.WAITER_BY_SESSION);
  }

  /** Deaths of those that stand in queues, in their order. */
  private Stream<Span> deaths() {
    return spans.stream().filter(span -> span.effect.isOfWaiter());
  }

  /**
   * The bound where none of those that died lately can have held: all were dead before somebody
   * else gave the lock back. Null if one may have held, or if nobody died so lately that it may
   * stand in the queue still.
   *
   * @param notice how long before that they must have died, for the store to have seen it
   */
  @Nullable Bound afterKilledWaiters(Waits.Gap gap, long notice) {
    boolean some = false;
    for (Span death : deaths().toList()) {
      if (death.until + notice <= gap.free()) {
        some |= gap.free() <= death.until + ttl;
      } else if (death.from <= gap.until()) {
        return null;
      }
    }
    // However patient: a dead one is waited for up to a TTL, and that must not pass.
    long latest = gap.from() + Math.min(patience, ttl / 2);
    return some ? new Bound(Rule.KILLED_WAITER, latest + excused(gap.from(), gap.until())) : null;
  }

  /**
   * Until when a lock may stay shut because of those that died in its queue; the beginning if none
   * of them can matter. One that died when the lock may have been handed to it has it for a TTL
   * more. Where a death is seen by a session's end alone, the lock may be handed to one that has
   * died since, and so on.
   */
  private long afterDeaths(Waits.Gap gap) {
    long most = ttl + ANEW + patience;
    long first = gap.from() + most;
    long latest = gap.from();
    for (Span death : deaths().sorted(Comparator.comparingLong(Span::until)).toList()) {
      if (death.from > gap.until() || death.until + ttl < gap.free()) {
        continue;
      }
      latest = Math.max(latest, first);
      long handed = death.effect.delay() == Delay.WAITER_BY_SESSION ? latest : first;
      // Before that nobody was handed what a dead one held.
      if (death.until > gap.free() + 2 * ttl / 3 && death.until <= handed) {
        latest = Math.max(latest, death.until + most);
      }
    }
    return latest;
  }

  /** Until when it can be the cause of a lock's being shut. */
  private long effective(Span span) {
    return switch (span.effect.delay()) {
      case LOST_WORD, SLOW -> span.until;
      case PROCESS -> Math.max(span.until, span.from + ttl);
      case STORE -> span.until + ttl;
      case WAITER, WAITER_BY_SESSION -> span.until;
    };
  }
}
