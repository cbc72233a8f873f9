package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.architecture.ModuleLimits.Limit;
import io.mortise.architecture.ModuleLimits.Measured;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Modules stay small enough to be carried, and their comments readable. */
class ModuleLimitsTest {
  /** Writes the present numbers into the limits instead of comparing. */
  private static final String UPDATE_PROPERTY = "mortise.limits.update";

  private static final Path LIMITS =
      Documentation.ROOT.resolve(
          "quality/architecture/src/test/resources/io/mortise/architecture/modules.txt");

  @TempDir private Path folder;

  @Test
  void givenModules_thenTheyKeepTheirLimits() throws Exception {
    List<Measured> modules = ModuleLimits.measure(Documentation.ROOT);
    assertThat(modules).hasSizeGreaterThan(25);
    if (Boolean.getBoolean(UPDATE_PROPERTY)) {
      Files.write(LIMITS, ModuleLimits.update(Files.readAllLines(LIMITS), modules));
    }
    assertThat(ModuleLimits.faults(modules, Limit.parse(Files.readAllLines(LIMITS))))
        .as("modules above the limits of src/test/resources/…/modules.txt")
        .isEmpty();
  }

  @Test
  void givenModuleAboveItsLimits_thenEachIsNoticed() throws Exception {
    List<Measured> modules = ModuleLimits.measure(sample());
    assertThat(ModuleLimits.faults(modules, limits("2 1 1 group/module", "2 1 1 {group/**,core}")))
        .isEmpty();
    assertThat(ModuleLimits.faults(modules, limits("1 0 1 group/module", "1 9 1 group/*")))
        .satisfiesExactly(
            main -> assertThat(main).contains("group/module has 2 code lines in src/main"),
            test -> assertThat(test).contains("group/module has 1 code lines in src/test"),
            sum -> assertThat(sum).contains("group/* has 2 code lines in src/main"));
    assertThat(ModuleLimits.faults(modules, limits("9 9 1 **")))
        .containsExactly("group/module has no limits.");
  }

  @Test
  void givenHeadlessComments_thenFileLineAndPhraseAreNamed() throws Exception {
    Path root = sample();
    Path test = root.resolve("group/module/src/test/java/sample/OneTest.java");
    Files.writeString(test, "class OneTest {} // For who waits.\n\n/* Who reads. */\n");
    assertThat(ModuleLimits.faults(ModuleLimits.measure(root), limits("9 9 1 group/module")))
        .singleElement()
        .asString()
        .contains("group/module has 2 headless phrases in 7 words", "the limit is 1 in 1,000")
        .contains(root.relativize(test) + ":1: …For who waits.…")
        .contains(root.relativize(test) + ":3: …Who reads.…");
  }

  @Test
  void givenLongFile_thenItIsNoticed() throws Exception {
    Path root = sample();
    Path main = root.resolve("group/module/src/main/java/sample/One.java");
    Files.writeString(main, "class One {\n" + "  ;\n".repeat(ModuleLimits.MOST_LINES - 2) + "}\n");
    assertThat(ModuleLimits.faults(ModuleLimits.measure(root), limits("999 9 1 group/module")))
        .isEmpty();
    Files.writeString(main, "class One {\n" + "  ;\n".repeat(ModuleLimits.MOST_LINES - 1) + "}\n");
    assertThat(ModuleLimits.faults(ModuleLimits.measure(root), limits("999 9 1 group/module")))
        .singleElement()
        .asString()
        .contains("One.java has 501 code lines; the limit is 500");
  }

  @Test
  void givenUpdate_thenLimitsFitTheModules() throws Exception {
    assertThat(
            ModuleLimits.update(
                List.of("# Why.", "7 7 7 group/*", "5 5 5 gone"), ModuleLimits.measure(sample())))
        .containsExactly(
            "# Why.", "  1000   1000         1  group/*", "   100    100         1  group/module");
  }

  private static List<Limit> limits(String... lines) {
    return Limit.parse(List.of(lines));
  }

  /** A build with one module, of two lines of main code and one of tests. */
  private Path sample() throws Exception {
    Path module = folder.resolve("group/module");
    Files.createDirectories(module.resolve("src/main/java/sample"));
    Files.createDirectories(module.resolve("src/test/java/sample"));
    Files.writeString(
        folder.resolve("pom.xml"),
        "<project><modules><module>group/module</module></modules></project>");
    Files.writeString(module.resolve("pom.xml"), "<project/>");
    Files.writeString(
        module.resolve("src/main/java/sample/One.java"), "// A comment\nclass One {\n\n}\n");
    Files.writeString(module.resolve("src/test/java/sample/OneTest.java"), "class OneTest {}\n");
    return folder;
  }
}
