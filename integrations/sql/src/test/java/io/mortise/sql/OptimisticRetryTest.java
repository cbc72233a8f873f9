package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.sql.VersionedUpdate.Outcome;
import io.mortise.sql.VersionedUpdate.Stale;
import io.mortise.sql.VersionedUpdate.Updated;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OptimisticRetryTest {
  private final List<Long> slept = new ArrayList<>();
  private int tries;

  private OptimisticRetry retry(int times) {
    return new OptimisticRetry(
        times, Duration.ofMillis(5), Duration.ofMillis(20), slept::add, new Random(7));
  }

  private Outcome staleUntil(int good) {
    tries++;
    return tries < good ? new Stale(tries) : new Updated(tries);
  }

  @Test
  void givenStaleTwice_thenTheThirdTryCounts_afterTwoRandomWaits() throws Exception {
    assertThat(retry(10).run(() -> staleUntil(3))).isEqualTo(new Updated(3));
    assertThat(slept).hasSize(2);
  }

  @Test
  void givenAlwaysStale_thenTheLastOutcomeIsReturned_andWaitsStayBelowTheirDoublingBounds()
      throws Exception {
    assertThat(retry(6).run(() -> staleUntil(100))).isEqualTo(new Stale(6));
    long[] bounds = {5, 10, 20, 20, 20};
    assertThat(slept).hasSize(bounds.length);
    for (int i = 0; i < bounds.length; i++) {
      assertThat(slept.get(i)).isBetween(0L, bounds[i] * 1_000_000);
    }
    assertThat(slept).as("random").doesNotHaveDuplicates();
  }

  @Test
  void givenFailure_thenItIsNotRepeated() {
    assertThatThrownBy(
            () ->
                retry(6)
                    .run(
                        () -> {
                          tries++;
                          throw new SQLException("down");
                        }))
        .hasMessage("down");
    assertThat(tries).isEqualTo(1);
  }

  @Test
  void givenNonsense_thenRefused() {
    assertThatThrownBy(() -> new OptimisticRetry(0, Duration.ZERO, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new OptimisticRetry(1, Duration.ofMillis(2), Duration.ofMillis(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
