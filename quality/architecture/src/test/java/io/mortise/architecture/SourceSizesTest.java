package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Packages and files of the main code stay small enough to survey. */
class SourceSizesTest {
  @TempDir private Path folder;

  @Test
  void givenMainCode_thenNoPackageAndNoFileIsTooLarge() throws Exception {
    assertThat(SourceSizes.mainSources(Documentation.ROOT)).hasSizeGreaterThan(300);
    assertThat(
            SourceSizes.faults(Documentation.ROOT, SourceSizes.MOST_TYPES, SourceSizes.MOST_LINES))
        .isEmpty();
  }

  @Test
  void givenPackageAndFileThatAreTooLarge_thenTheyAreNoticed() throws Exception {
    Path sources = Files.createDirectories(folder.resolve("group/module/src/main/java/sample"));
    Files.writeString(
        folder.resolve("pom.xml"),
        "<project><modules><module>group/module</module></modules></project>");
    Files.writeString(folder.resolve("group/module/pom.xml"), "<project/>");
    Files.writeString(sources.resolve("One.java"), "class One {}\n");
    Files.writeString(sources.resolve("Two.java"), "class Two {\n\n}\n");
    Files.writeString(sources.resolve("package-info.java"), "package sample;\n");
    assertThat(SourceSizes.faults(folder, 2, 3)).isEmpty();
    assertThat(SourceSizes.faults(folder, 1, 2))
        .satisfiesExactly(
            file -> assertThat(file).contains("Two.java", "3 lines", "a type of its own"),
            types -> assertThat(types).contains("sample", "2 types", "a package of their own"));
  }

  @Test
  void givenExcusedFile_thenItIsStillTooLarge() throws Exception {
    for (String excused : SourceSizes.EXCUSED) {
      assertThat(SourceSizes.mainSources(Documentation.ROOT))
          .as("Remove '%s' from the list: it is short by now, or gone.", excused)
          .filteredOn(file -> file.getFileName().toString().equals(excused))
          .anyMatch(file -> lines(file) > SourceSizes.MOST_LINES);
    }
  }

  private static long lines(Path file) {
    try {
      return Files.readAllLines(file).size();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
