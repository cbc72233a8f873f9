package io.mortise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {
  @ParameterizedTest
  @ValueSource(strings = {"a", " ", "invoice/42", "größe", "锁", "🔒", "{x}:y%z'\"\\"})
  void givenLegalName_whenMade_thenKeptAsItIs(String name) {
    assertThat(LockName.of(name).value()).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a\nb", "\u0000", "x\u007f", "\u0085", "a\u2028b", "\ud83d", "\udd12\ud83d"})
  void givenIllegalName_whenMade_thenRefused(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockName.of(name))
        .withMessageContaining("ock name");
  }

  @Test
  void givenNamesAroundTheLimit_whenMade_thenBytesCountNotCharacters() {
    assertThat(LockName.of("é".repeat(256)).utf8()).hasSize(512);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockName.of("é".repeat(257)))
        .withMessageContaining("512 bytes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockName.of("x".repeat(1_000_000)))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
  }

  @Test
  void givenControlCharacter_whenRefused_thenMessageSaysWhichAndWhere() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LockName.of("ab\tc"))
        .withMessageContaining("U+0009")
        .withMessageContaining("index 2");
  }

  @Test
  void givenNames_whenSorted_thenInTheOrderOfTheirBytes() {
    List<String> sorted =
        List.of("\uffee", "z", "🔒", "A", "é").stream()
            .map(LockName::of)
            .sorted()
            .map(LockName::value)
            .toList();
    assertThat(sorted).containsExactly("A", "z", "é", "\uffee", "🔒");
  }

  @Test
  void givenCharacterWithoutAShape_whenWrittenIntoAMessage_thenItIsAnEscape_andTheNameStays() {
    for (String name : List.of("pay\u202eyap", "a\u200bb", "x\ufeff", "e\u2066f")) {
      LockName made = LockName.of(name);
      assertThat(made.value()).isEqualTo(name);
      assertThat(made.toString()).matches("[a-z]+\\\\u\\{[0-9a-f]+}[a-z]*");
    }
    assertThat(LockName.of("größe 锁").toString()).isEqualTo("größe 锁");
  }

  @Test
  void givenComposedAndDecomposedLetter_whenCompared_thenTwoNames() {
    assertThat(LockName.of("é")).isNotEqualTo(LockName.of("e\u0301"));
  }
}
