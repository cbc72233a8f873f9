package io.mortise.architecture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The documentation stays short enough to be read. */
class WordLimitsTest {
  @TempDir private Path folder;

  private static List<String> limits() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(WordLimitsTest.class.getResourceAsStream("words.txt"))) {
      return new String(in.readAllBytes(), UTF_8).lines().toList();
    }
  }

  @Test
  void givenDocumentation_thenItHasNoMoreWordsThanItsLimits() throws IOException {
    var words = WordLimits.words(Documentation.ROOT);
    assertThat(words).hasSizeGreaterThan(100).containsKey(Path.of("README.md"));
    assertThat(WordLimits.faults(words, limits()))
        .as("pages above the limits of src/test/resources/…/words.txt")
        .isEmpty();
  }

  @Test
  void givenPagesAboveTheirLimits_thenEachIsNoticed() throws IOException {
    Path decisions = Files.createDirectories(folder.resolve("docs/adr"));
    Files.writeString(folder.resolve("README.md"), "One two\nthree | four\n");
    Files.writeString(decisions.resolve("0001-a.md"), "# Five six\n");
    Files.writeString(decisions.resolve("0002-b.md"), "");
    Files.createDirectories(folder.resolve("module/target"));
    Files.writeString(folder.resolve("module/target/README.md"), "not counted");
    var words = WordLimits.words(folder);
    assertThat(words).hasSize(3).containsEntry(Path.of("README.md"), 5);
    assertThat(
            WordLimits.faults(
                words, List.of("# comment", "all 8 **", "each 3 docs/adr/*.md", "files 2 **.md")))
        .containsExactly("**.md are 3 files; the limit is 2.");
    assertThat(
            WordLimits.faults(
                words, List.of("all 7 **", "each 2 docs/adr/*.md", "files 1 docs/adr/*.md")))
        .containsExactly(
            "All pages have 8 words; the limit is 7.",
            Path.of("docs/adr/0001-a.md") + " has 3 words; the limit is 2.",
            "docs/adr/*.md are 2 files; the limit is 1.");
  }
}
