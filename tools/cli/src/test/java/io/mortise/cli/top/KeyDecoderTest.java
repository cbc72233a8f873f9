package io.mortise.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.cli.top.KeyPress.KeyName;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyDecoderTest {
  /** A terminal that sends this text and no more. */
  private static KeyDecoder sending(String text) {
    int[] at = {0};
    return new KeyDecoder(
        millis -> at[0] < text.length() ? text.charAt(at[0]++) : KeyDecoder.NOTHING);
  }

  @ParameterizedTest
  @CsvSource({
    "[A, UP",
    "OA, UP",
    "[B, DOWN",
    "[H, HOME",
    "[1~, HOME",
    "OF, END",
    "[5~, PAGE_UP",
    "[6~, PAGE_DOWN",
    "[99;5u, UNKNOWN",
    "x, UNKNOWN"
  })
  void givenSequence_whenRead_thenItIsOneKey(String rest, KeyName key) throws IOException {
    KeyDecoder keys = sending("\u001b" + rest + "q");
    assertThat(keys.next(1)).isEqualTo(KeyPress.of(key));
    assertThat(keys.next(1)).isEqualTo(KeyPress.typed('q'));
    assertThat(keys.next(1)).isNull();
  }

  @Test
  void givenEscapeAlone_whenRead_thenItIsEscape() throws IOException {
    assertThat(sending("\u001b").next(1)).isEqualTo(KeyPress.of(KeyName.ESCAPE));
  }

  @Test
  void givenTextAndControls_whenRead_thenLettersAreWholeAndControlsTypeNothing()
      throws IOException {
    KeyDecoder keys = sending("鎖\ud83d\udd12\r\u007f\u0001");
    assertThat(keys.next(1)).isEqualTo(KeyPress.typed('鎖'));
    assertThat(keys.next(1)).isEqualTo(KeyPress.typed(0x1F512));
    assertThat(keys.next(1)).isEqualTo(KeyPress.of(KeyName.ENTER));
    assertThat(keys.next(1)).isEqualTo(KeyPress.of(KeyName.BACKSPACE));
    assertThat(keys.next(1)).isEqualTo(KeyPress.of(KeyName.UNKNOWN));
  }

  @Test
  void givenEndlessSequence_whenRead_thenItEnds() throws IOException {
    assertThat(sending("\u001b[" + "1;".repeat(100)).next(1))
        .isEqualTo(KeyPress.of(KeyName.UNKNOWN));
  }

  @Test
  void givenTerminalThatIsGone_whenRead_thenThatIsTold() throws IOException {
    assertThat(sending("\u0003").next(1)).isEqualTo(KeyPress.of(KeyName.GONE));
    assertThat(new KeyDecoder(millis -> -1).next(1)).isEqualTo(KeyPress.of(KeyName.GONE));
  }
}
