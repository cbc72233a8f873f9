package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.AttemptId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HeldAttemptsTest {
  private final HeldAttempts held = new HeldAttempts();

  @Test
  void givenRandomAddsAndRemoves_thenItIsASet() {
    SplittableRandom random = new SplittableRandom(26);
    Set<Long> model = new HashSet<>();
    for (int i = 0; i < 400_000; i++) {
      // Grows to some thousands and shrinks again.
      boolean adds = random.nextInt(10) < (i / 50_000 % 2 == 0 ? 7 : 3);
      long count = random.nextLong(1, 10_000);
      long number = random.nextBoolean() ? count : AttemptId.stickyNumber(count);
      if (adds) {
        held.add(number);
        model.add(number);
      } else {
        held.remove(number);
        model.remove(number);
      }
      long other = random.nextLong(1, 10_000);
      assertThat(held.contains(number)).isEqualTo(adds);
      assertThat(held.contains(other)).isEqualTo(model.contains(other));
      assertThat(held.isEmpty()).isEqualTo(model.isEmpty());
    }
    List.copyOf(model).forEach(held::remove);
    assertThat(held.isEmpty()).isTrue();
  }

  @Test
  void givenSeveralThreads_thenNothingIsLost() {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      long first = 1 + 10_000L * t;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                for (long n = first; n < first + 10_000; n++) {
                  held.add(n);
                }
                for (long n = first; n < first + 10_000; n += 2) {
                  held.remove(n);
                }
              }));
    }
    all.forEach(CompletableFuture::join);
    for (long n = 1; n <= 40_000; n++) {
      assertThat(held.contains(n)).as("%d", n).isEqualTo(n % 2 == 0);
    }
  }
}
