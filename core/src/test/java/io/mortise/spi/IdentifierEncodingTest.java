package io.mortise.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.HoldTerms;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentifierEncodingTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 63, 64, 4095, 1L << 40, 1L << 53})
  void givenAttempt_whenEncodedAndParsed_thenTheSame(long number) {
    AttemptId attempt = new AttemptId(SessionId.random(new Random(number)), number);
    assertThat(attempt.encoded()).hasSize(AttemptId.LENGTH).matches("[A-Za-z0-9_-]+");
    assertThat(AttemptId.parse(attempt.encoded())).isEqualTo(attempt);
    assertThat(AttemptId.of(attempt.encoded())).isEqualTo(attempt);
    assertThat(AttemptId.of(attempt.toString())).isEqualTo(attempt);
  }

  @Test
  void givenRisingNumbers_whenEncoded_thenRiseAsText() {
    SessionId session = SessionId.random(new Random(1));
    String before = new AttemptId(session, 1).encoded();
    for (long number = 2; number < 10_000; number += 7) {
      String next = new AttemptId(session, number).encoded();
      assertThat(next).isGreaterThan(before);
      before = next;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "short",
        "0123456789ab0123456789c",
        "0123456789ab012345678!",
        "0123456789ab----------",
        "0123456789ab.",
        "0123456789ab.0",
        "0123456789ab.12345678901234567",
        "0123456789a.1"
      })
  void givenForeignText_whenParsed_thenRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> AttemptId.parse(text));
    assertThatIllegalArgumentException().isThrownBy(() -> AttemptId.of(text));
  }

  @Test
  void givenManySessions_whenDrawn_thenAllDiffer() {
    Random random = new Random(42);
    assertThat(
            java.util.stream.Stream.generate(() -> SessionId.random(random))
                .limit(10_000)
                .distinct()
                .count())
        .isEqualTo(10_000);
  }

  @Test
  void givenClientLabel_whenEncodedAndParsed_thenTheSame() {
    ClientLabel label = new ClientLabel("host-1", 77, "nightly report");
    assertThat(ClientLabel.parse(label.encoded())).isEqualTo(label);
    assertThat(ClientLabel.parse("of another form"))
        .isEqualTo(new ClientLabel("-", 0, "of another form"));
    assertThat(new ClientLabel("a\nb", 1, "\u001b[31m").encoded())
        .doesNotContain("\n")
        .doesNotContain("\u001b");
  }

  @Test
  void givenTimesThatMakeNoSense_whenTermsAreMade_thenRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new HoldTerms(Duration.ZERO, null, ""));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HoldTerms(Duration.ofDays(4000), null, ""));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HoldTerms(Duration.ofSeconds(1), Duration.ofSeconds(2), ""))
        .withMessageContaining("longer than");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HoldTerms(null, null, "x".repeat(101)));
    assertThatIllegalArgumentException().isThrownBy(() -> new HoldTerms(null, null, "a\nb"));
  }

  @Test
  void givenWeightsThatMakeNoSense_whenModeIsMade_thenRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Mode.permits(0, 3));
    assertThatIllegalArgumentException().isThrownBy(() -> Mode.permits(4, 3));
    assertThatIllegalArgumentException().isThrownBy(() -> Mode.permits(1, Mode.SHARERS));
    assertThat(Mode.permits(3, 3).isExclusive()).isTrue();
  }
}
