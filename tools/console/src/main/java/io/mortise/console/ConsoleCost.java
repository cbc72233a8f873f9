package io.mortise.console;

import io.mortise.annotation.Beta;
import io.mortise.console.observer.LookCost;
import io.mortise.console.observer.Observer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a console to its store since its start, and its open pages. The number of requests
 * and their time never fall.
 *
 * @param looks requests to the store: a page of a survey or of sessions, or one lock
 * @param storeTime the time of waiting for these, counted as the store's work
 * @param lastSurvey the duration of the last complete survey of all locks; zero before the first
 * @param streams of open pages
 */
@Beta
public record ConsoleCost(long looks, Duration storeTime, Duration lastSurvey, int streams) {
  /**
   * The cost up to now.
   *
   * @param observer null if it has not been started
   */
  static ConsoleCost of(@Nullable Observer observer, int streams) {
    if (observer == null) {
      return new ConsoleCost(0, Duration.ZERO, Duration.ZERO, streams);
    }
    LookCost spent = observer.cost();
    return new ConsoleCost(spent.looks(), spent.time(), observer.survey().took(), streams);
  }
}
