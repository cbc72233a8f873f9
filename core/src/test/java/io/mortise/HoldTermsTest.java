package io.mortise;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.spi.time.DurationText;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Refused terms, with durations in the form that users write. */
class HoldTermsTest {
  @Test
  void givenAtLeastTimeThatIsLonger_thenBothAreTold() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HoldTerms(Duration.ofMillis(1_500), Duration.ofSeconds(90), ""))
        .withMessage(
            "The at-least time 1m30s is longer than the at-most time 1s500ms. Shorten the first.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT0.0005S", "PT-1.5S", "P4000DT1H2M3.004S"})
  void givenTimeThatIsOutOfRange_thenItIsWrittenAsTheSpiWritesDurations(Duration time) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HoldTerms(time, null, ""))
        .withMessage(
            "The at-most time %s is not within 1ms and 10 years.", DurationText.formatExact(time));
  }
}
