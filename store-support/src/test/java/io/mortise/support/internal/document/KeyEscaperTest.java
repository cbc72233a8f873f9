package io.mortise.support.internal.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyEscaperTest {
  private static final KeyEscaper ESCAPER = new KeyEscaper('.', "-_/");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lock/a",
        "lock/a.b",
        "lock/*",
        "lock/>",
        "lock/a b",
        "lock/=41",
        "lock/A",
        "lock/é 😀",
        "lock//",
        "lock/$KV.x",
        "session/a-_1",
        "lock/%2E",
        "lock/\\"
      })
  void givenKey_thenItIsOneTokenOfPlainCharacters_andIsFoundAgain(String key) {
    String token = ESCAPER.escape(key);
    assertThat(token).matches("(lock|session)\\.[-/_=a-zA-Z0-9]+");
    assertThat(ESCAPER.unescape(token)).contains(key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock.=zz", "lock.=4", "lock.a=", "lock.=41", "lock.=2f", "lock.=FF"})
  void givenTokenThatAnotherProgramHasMade_thenItIsNoKey(String token) {
    assertThat(ESCAPER.unescape(token)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"lock/a.b, lock.a=2Eb", "lock/é, lock.=C3=A9", "session/x/y, session.x/y"})
  void givenKey_thenItsWrittenFormIsTheSameInEveryRelease(String key, String token) {
    assertThat(ESCAPER.escape(key)).isEqualTo(token);
  }

  @ParameterizedTest
  @CsvSource({"lock/a.b, lock/a=2Eb", "lock/a*-_/b, lock/a*-_=2Fb", "session/x/y, session/x=2Fy"})
  void givenKeyForConsul_thenItsWrittenFormIsTheSameInEveryRelease(String key, String written) {
    KeyEscaper escaper = new KeyEscaper('/', "*-_");
    assertThat(escaper.escape(key)).isEqualTo(written);
    assertThat(escaper.unescape(written)).contains(key);
  }

  @Test
  void givenKeyWithoutAKind_thenItIsRefused() {
    assertThatThrownBy(() -> ESCAPER.escape("lock"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Key 'lock' has no '/' between its kind and its name.");
  }

  @Test
  void givenAllShortNames_thenNoTwoShareAToken() {
    Set<String> tokens = new HashSet<>();
    int names = 0;
    for (char first = ' '; first < 0x180; first++) {
      for (char second : new char[] {'=', '4', '1', 'A', '.'}) {
        tokens.add(ESCAPER.escape("lock/" + first + second));
        names++;
      }
    }
    assertThat(tokens).hasSize(names);
  }
}
