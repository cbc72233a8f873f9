package io.mortise.console.observer;

import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Outages of the store, and the times of retries. Thread-safe. */
public final class Outages {
  /** The most gaps kept, as an unreliable network keeps producing them. */
  static final int KEPT = 100;

  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

  private final Deque<Gap> gaps = new ArrayDeque<>();
  private @Nullable Outage current;
  private Duration retry = Duration.ZERO;

  Outages() {}

  /** A gap in observation. */
  public record Gap(Instant from, Instant to) {}

  /** A present outage of the store. */
  public record Outage(Instant since, String message) {}

  /** The present outage; null while the store answers. */
  synchronized @Nullable Outage current() {
    return current;
  }

  /** The last gaps, the oldest first. */
  synchronized List<Gap> gaps() {
    return List.copyOf(gaps);
  }

  /** Restores the gaps of an earlier console, including that of its absence. */
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
   * Records a missing answer; returns the delay of the next retry.
   *
   * @param asked the time of the request
   */
  synchronized Duration failed(Throwable e, Instant asked) {
    retry = retry.isZero() ? FIRST_RETRY : retry.multipliedBy(2);
    retry = retry.compareTo(LONGEST_RETRY) > 0 ? LONGEST_RETRY : retry;
    current = new Outage(current == null ? asked : current.since(), OutputSanitizer.message(e));
    return retry;
  }

  /** Records an answer; returns the event of an outage that it ends, or null. */
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
