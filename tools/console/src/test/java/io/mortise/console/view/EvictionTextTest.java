package io.mortise.console.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockParticipant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Messages about evictions. */
class EvictionTextTest {
  private static String evicted(@Nullable Duration renewedAgo, boolean now) {
    LockParticipant holder = LockFormatterTest.heldBy(renewedAgo).holders().get(0);
    return EvictionText.of(EvictionResult.HOLD_ENDED, "x", holder, now, false);
  }

  @Test
  void givenStoreWithoutAClock_thenTheHolderIsNotSaidToBeTold() {
    assertThat(evicted(Duration.ofSeconds(4), false))
        .isEqualTo(
            "Evicted db1:4711 from lock 'x'. It stays shut until that process lets go, or until a"
                + " waiter has seen no renewal for 15s.");
    assertThat(evicted(Duration.ofMinutes(4), false))
        .isEqualTo(
            "Evicted db1:4711 (not renewed for 4m, not judged) from lock 'x'. It stays shut until"
                + " that process lets go, or until a waiter has seen no renewal for 15s.");
    assertThat(evicted(Duration.ofSeconds(4), true))
        .isEqualTo("Took lock 'x' from db1:4711, which may not know yet.");
  }

  @Test
  void givenStoreWithAClock_thenTheHolderWasTold_andItsSessionEnds() {
    assertThat(evicted(null, false))
        .isEqualTo(
            "Told db1:4711 to let go of lock 'x'. It stays shut until then, or until its session is over.");
  }
}
