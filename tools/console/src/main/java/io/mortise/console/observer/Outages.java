package io.mortise.console.observer;

import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** When the store did not answer, and when to ask it again. Thread-safe. */
public final class Outages {
  /** An unreliable network makes gaps for as long as the console runs. */
  static final int KEPT = 100;

  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

  private final Deque<Gap> gaps = new ArrayDeque<>();
  private @Nullable Outage current;
  private Duration retry = Duration.ZERO;

  Outages() {}

  /** A time in which nothing was seen. */
  public record Gap(Instant from, Instant to) {}

  /** The store does not answer. */
  public record Outage(Instant since, String message) {}

  /** Null while the store answers. */
  synchronized @Nullable Outage current() {
    return current;
  }

  /** The last ones, the oldest first. */
  synchronized List<Gap> gaps() {
    return List.copyOf(gaps);
  }

  /** Takes over the last times of a console that ran before, and of its absence. */
  synchronized void restore(List<ObservedEvent> events) {
    for (ObservedEvent event : events) {
      Duration length = event.held();
      if (event.kind() == ObservedKind.GAP && length != null) {
        add(new Gap(event.at().minus(length), event.at()));
      }
    }
  }

  private void add(Gap gap) {
    if (gaps.size() == KEPT) {
      gaps.remove();
    }
    gaps.add(gap);
  }

  /**
   * The store has not answered. Returns how long to wait before it is asked again.
   *
   * @param asked when it was asked
   */
  synchronized Duration failed(Throwable e, Instant asked) {
    retry = retry.isZero() ? FIRST_RETRY : retry.multipliedBy(2);
    retry = retry.compareTo(LONGEST_RETRY) > 0 ? LONGEST_RETRY : retry;
    current = new Outage(current == null ? asked : current.since(), OutputSanitizer.message(e));
    return retry;
  }

  /** The store has answered. Returns what there is to tell if it had not; null otherwise. */
  synchronized @Nullable ObservedEvent answered(Instant now) {
    Outage ended = current;
    if (ended == null) {
      return null;
    }
    current = null;
    retry = Duration.ZERO;
    add(new Gap(ended.since(), now));
    return ObservedEvent.gap(
        ended.since(),
        now,
        "the store did not answer for "
            + DurationText.format(Duration.between(ended.since(), now)));
  }
}
