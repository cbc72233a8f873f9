package io.mortise.torture.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The time to check a history grows no faster than its number of events. */
class LongHistoryTest {
  private static final int WORKERS = 32;
  private static final int LOCKS = 4;

  /** {@code -Dmortise.torture.events=10000000 -Dtest.jvm.heap=6g} takes a minute. */
  private static final long EVENTS = Long.getLong("mortise.torture.events", 200_000);

  /** The workers take turns on each lock; a hold has five events. */
  @Test
  @Timeout(600)
  void givenManyEvents_whenTheyAreChecked_thenTheOneWrongTokenIsFound() {
    HistoryChecker historyChecker =
        new HistoryChecker(Duration.ofSeconds(2), Duration.ofMillis(500), Map.of());
    long began = System.nanoTime();
    long[] attempts = new long[WORKERS];
    long holds = EVENTS / 5;
    for (long i = 0; i < holds; i++) {
      int turn = (int) (i % WORKERS);
      int worker = (turn + 1) * HistoryEvent.PROCESS + 1;
      String lock = "hot-" + turn % LOCKS;
      long at = i * 1_000;
      long attempt = ++attempts[turn];
      long token = i == holds / 2 ? i - 2 * WORKERS : i;
      historyChecker.take(
          new HistoryEvent(at - 20_000, EventKind.ASKS, worker, lock, attempt, 0, 0));
      historyChecker.take(
          new HistoryEvent(at, EventKind.HOLDS, worker, lock, attempt, token + 1, 0));
      historyChecker.take(
          new HistoryEvent(at + 300, EventKind.WROTE, worker, lock, attempt, token + 1, 0));
      historyChecker.take(
          new HistoryEvent(at + 500, EventKind.SURE, worker, lock, attempt, token + 1, 0));
      historyChecker.take(new HistoryEvent(at + 700, EventKind.GAVE, worker, lock, attempt, 0, 0));
    }
    CheckResult checkResult = historyChecker.check();
    System.out.printf("%,d events in %.1f s%n", holds * 5, (System.nanoTime() - began) / 1e9);
    assertThat(checkResult.count(EventKind.HOLDS)).isEqualTo(holds);
    assertThat(checkResult.found())
        .containsOnlyKeys(
            HistoryViolation.SafetyRule.RISING_TOKENS, HistoryViolation.SafetyRule.UNIQUE_TOKENS);
  }
}
