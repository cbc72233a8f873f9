package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Messages show durations as users write them, like {@code 500ms} or {@code 1m30s}. The remedy is
 * {@code DurationText.format}, or {@code formatExact} for a limit to keep to.
 */
class DurationsInMessagesTest {
  /** A placeholder, a literal or a method's result before a unit. */
  private static final Pattern BY_HAND =
      Pattern.compile("(%d|\\{\\}) ?m?s\\b|\" m?s[ .,;:\"]|\\) \\+ \"m?s[ .,;:\"]");

  /** A setting of a server. */
  private static final String SETTING = "Math.max(1, wait.toMillis()) + \"ms\"";

  private static boolean isByHand(String line) {
    return BY_HAND.matcher(line).find() && !line.contains(SETTING);
  }

  @Test
  void givenMessages_thenNoDurationIsWrittenByHand() throws IOException {
    List<String> found = new ArrayList<>();
    List<Path> sources =
        Modules.mainSources(Documentation.ROOT).stream()
            .filter(DurationsInMessagesTest::speaksToUsers)
            .toList();
    for (Path source : sources) {
      Files.readAllLines(source).stream()
          .filter(DurationsInMessagesTest::isByHand)
          .forEach(line -> found.add(source.getFileName() + ": " + line.strip()));
    }
    assertThat(found).as("durations without DurationText").isEmpty();
    assertThat(sources).hasSizeGreaterThan(300);
  }

  /** Measurements of tools have a precision of their own. */
  private static boolean speaksToUsers(Path source) {
    return !List.of("bench", "torture", "verification").contains(Modules.name(source));
  }

  @Test
  void givenDurationWrittenByHand_thenItIsNoticed() {
    assertThat(
            List.of(
                "\"no answer within %d ms\"",
                "\"moved by {} ms in\"",
                "\"lives for %ds\"",
                "time.toMillis() + \" ms\";",
                "+ \" s. Look\"",
                "quarantine.toSeconds() + \"s\","))
        .allMatch(DurationsInMessagesTest::isByHand);
    assertThat(List.of("prefix + \"s:\" + id", "case \"ms\" ->"))
        .noneMatch(DurationsInMessagesTest::isByHand);
  }
}
