package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackOffTest {
  @Test
  void givenTriesInVain_thenThePausesGrowToATenthOfASecond() {
    assertThat(BackOff.longest(3)).isLessThan(1_000_000);
    assertThat(BackOff.longest(15)).isLessThan(BackOff.longest(16));
    assertThat(BackOff.longest(1_000)).isEqualTo(100_000_000);
  }
}
