package io.mortise.spi.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "500ms, PT0.5S",
    "30s, PT30S",
    "5m, PT5M",
    "2h, PT2H",
    "1d, PT24H",
    "1h30m, PT1H30M",
    "PT2S, PT2S"
  })
  void givenText_whenParsed_thenDuration(String text, Duration duration) {
    assertThat(DurationText.parse(text)).isEqualTo(duration);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "5", "-1s", "1.5s", "s", "1 s", "1s x", "PT-2S", "P", "9999999999999s"})
  void givenOtherText_whenParsed_thenRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DurationText.parse(text))
        .withMessageContaining("duration");
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0s",
    "PT0.0004S, 0s",
    "PT0.25S, 250ms",
    "PT1S, 1s",
    "PT1.54S, 1.5s",
    "PT59.9S, 59s",
    "PT1M, 1m",
    "PT61S, 1m1s",
    "PT1H, 1h",
    "PT1H59S, 1h",
    "PT25H, 1d1h",
    "PT-1S, -1s",
    "PT2562047788015215H, 106751991167300d15h"
  })
  void givenDuration_whenFormatted_thenShort(Duration duration, String text) {
    assertThat(DurationText.format(duration)).isEqualTo(text);
  }
}
