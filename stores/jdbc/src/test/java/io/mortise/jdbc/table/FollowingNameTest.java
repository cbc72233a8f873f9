package io.mortise.jdbc.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The end of the names that begin alike, in the order that databases have. */
class FollowingNameTest {
  private static final List<String> PREFIXES =
      List.of(
          "a",
          "a/",
          "z",
          "~",
          "a~",
          "é",
          "\ud7ff",
          "a\ud7ff",
          "\ue000",
          "\ufffe",
          "a\uffff",
          "\ud83d\ude00",
          "\ud83d\udfff",
          "a\udbff\udfff",
          "b\uffff\udbff\udfff");

  @Test
  void givenPrefix_thenAllThatBeginSoComeBeforeItsEnd() {
    for (String prefix : PREFIXES) {
      String end = LockRepository.following(prefix);
      assertThat(end).as(prefix).isNotNull();
      for (String name :
          List.of(prefix, prefix + "a", prefix + "\uffff", prefix + "\udbff\udfff\udbff\udfff")) {
        assertThat(Arrays.compareUnsigned(utf8(name), utf8(end))).as(name).isNegative();
      }
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void givenOrdinaryPrefix_thenNoOtherNameIsBetween() {
    assertThat(LockRepository.following("invoice/")).isEqualTo("invoice0");
    assertThat(LockRepository.following("\ud7ff")).isEqualTo("\ue000");
    assertThat(LockRepository.following("a\udbff\udfff")).isEqualTo("b");
    assertThat(LockRepository.following("a\uffff")).isEqualTo("a\ud800\udc00");
  }

  @Test
  void givenNothingThatComesBehind_thenThereIsNoEnd() {
    assertThat(LockRepository.following("")).isNull();
    assertThat(LockRepository.following("\udbff\udfff")).isNull();
  }
}
