package io.mortise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LockTagsTest {
  @Test
  void givenNamesWithIds_thenTheTagHasNone() {
    assertThat(LockTags.withoutIds("invoice/42")).isEqualTo("invoice/*");
    assertThat(LockTags.withoutIds("tenant/7/invoice/42")).isEqualTo("tenant/*/invoice/*");
    assertThat(LockTags.withoutIds("job-2026-11-25")).isEqualTo("job-*");
    assertThat(LockTags.withoutIds("cart:a1b2c3:lock")).isEqualTo("cart:*:lock");
    assertThat(LockTags.withoutIds("user/550e8400-e29b-41d4-abcd-446655440000"))
        .isEqualTo("user/*");
    assertThat(LockTags.withoutIds("user/abcdefab-abcd-abcd-abcd-abcdefabcdef"))
        .isEqualTo("user/*");
    assertThat(LockTags.withoutIds("10.0.0.1")).isEqualTo("*");
    assertThat(LockTags.withoutIds("nightly report")).isEqualTo("nightly report");
    assertThat(LockTags.withoutIds("/a//b/")).isEqualTo("/a//b/");
  }

  @Test
  void givenManyNames_thenThereAreFewTags() {
    LockTags tags = new LockTags(LockTags::withoutIds, 3);
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      seen.add(tags.tag("invoice/" + i));
    }
    assertThat(seen).containsExactly("invoice/*");
    for (char letter = 'a'; letter <= 'z'; letter++) {
      seen.add(tags.tag("user-" + letter));
      seen.add(tags.tag("invoice/" + letter));
    }
    assertThat(seen).hasSize(4).contains("invoice/*", LockTags.OTHER);
    assertThat(tags.tag("invoice/1")).isEqualTo("invoice/*");
  }

  @Test
  void givenFunctionOfTheUser_thenItsTagsAreLimitedAsWell() {
    LockTags tags = new LockTags(name -> name, 1);
    assertThat(tags.tag("a")).isEqualTo("a");
    assertThat(tags.tag("b")).isEqualTo(LockTags.OTHER);
    assertThat(tags.tag("a")).isEqualTo("a");
  }
}
