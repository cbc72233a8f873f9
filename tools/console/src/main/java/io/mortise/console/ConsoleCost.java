package io.mortise.console;

import io.mortise.annotation.Beta;
import io.mortise.console.observer.LookCost;
import io.mortise.console.observer.Observer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a console has cost its store since it began, and who looks. The numbers of looks and the
 * time never fall.
 *
 * @param looks requests to the store: a page of a survey or of sessions, or one lock
 * @param storeTime for which these were waited for, which counts as the store's work
 * @param lastSurvey how long the last complete survey of all locks took; zero before the first
 * @param streams of open pages
 */
@Beta
public record ConsoleCost(long looks, Duration storeTime, Duration lastSurvey, int streams) {
  /**
   * Up to now.
   *
   * @param observer null if it has not begun to look
   */
  static ConsoleCost of(@Nullable Observer observer, int streams) {
    if (observer == null) {
      return new ConsoleCost(0, Duration.ZERO, Duration.ZERO, streams);
    }
    LookCost spent = observer.cost();
    return new ConsoleCost(spent.looks(), spent.time(), observer.survey().took(), streams);
  }
}
