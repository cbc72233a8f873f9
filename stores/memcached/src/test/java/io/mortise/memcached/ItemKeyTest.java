package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ItemKeyTest {
  private static String key(String name) {
    return ItemKey.of("shop", LockName.of(name));
  }

  @Test
  void givenName_thenPeopleCanReadItsKey_andBlanksAndForeignLettersAreEscaped() {
    assertThat(key("invoice/42")).isEqualTo("shop:invoice/42");
    assertThat(key("a b")).isEqualTo("shop:a%20b");
    assertThat(key("ä")).isEqualTo("shop:%C3%A4");
    assertThat(key("100%")).isEqualTo("shop:100%25");
  }

  @Test
  void givenNameWhoseKeyFitsExactly_thenItIsWhole_andOneByteMoreIsHashed() {
    assertThat(key("x".repeat(245))).isEqualTo("shop:" + "x".repeat(245)).hasSize(250);
    assertThat(key("x".repeat(246)))
        .hasSize(250)
        .startsWith("shop:xxx")
        .contains("%%")
        .isNotEqualTo(key("x".repeat(247)));
  }

  @Test
  void givenNamesThatLookAlike_thenTheirKeysDiffer_fitTheServer_andAreNotTheClock() {
    List<String> names =
        List.of(
            "a b",
            "a%20b",
            "a%%b",
            "A B",
            ";clock",
            "clock",
            "ä".repeat(41),
            "ä".repeat(42),
            "ä".repeat(255),
            "ä".repeat(256),
            "%".repeat(81),
            "%".repeat(82),
            "%".repeat(512),
            "x".repeat(512),
            "x".repeat(511) + "y",
            key("x".repeat(512)).substring(5));
    Set<String> keys = new HashSet<>();
    for (String name : names) {
      String key = key(name);
      assertThat(key).hasSizeLessThanOrEqualTo(ItemKey.MAX_LENGTH).matches("[!-~]+");
      assertThat(keys.add(key)).as(name).isTrue();
    }
    assertThat(keys).doesNotContain(ItemKey.ofClock("shop"));
  }
}
