package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A release is complete. {@code release/run rehearse} runs this on a real one. */
class StagedRepositoryTest {
  private static final Map<String, String> CHECKSUMS =
      Map.of(".md5", "MD5", ".sha1", "SHA-1", ".sha256", "SHA-256", ".sha512", "SHA-512");
  private static final String POM =
      "<project><groupId>io.mortise</groupId><artifactId>one</artifactId><version>1.0</version></project>";

  @TempDir private Path folder;

  @Test
  @EnabledIfSystemProperty(
      named = "mortise.staging",
      matches = ".+",
      disabledReason = "release/run rehearse stages a release and names its folder")
  void givenStagedRelease_thenItHasAllThatIsPublishedAndNothingElse() throws Exception {
    assertThat(
            StagedRepository.faults(
                Path.of(System.getProperty("mortise.staging")),
                PublishedPoms.published(Pom.withModules(Documentation.ROOT))))
        .isEmpty();
  }

  @Test
  void givenCompleteArtifact_thenItHasNoFaults() throws Exception {
    stage();
    assertThat(faults()).isEmpty();
  }

  @Test
  void givenMissingFile_thenItIsNamed() throws Exception {
    for (String suffix :
        List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json", ".pom.sha512")) {
      stage();
      Files.delete(at("one-1.0" + suffix));
      assertThat(faults()).contains("io/mortise/one/1.0/one-1.0" + suffix + " is missing");
    }
  }

  @Test
  void givenJarsWithoutContent_thenTheyAreNamed() throws Exception {
    stage();
    for (String suffix : List.of("-sources.jar", "-javadoc.jar")) {
      write("one-1.0" + suffix, jar("readme.txt"));
    }
    assertThat(faults())
        .containsExactly(
            "io/mortise/one/1.0/one-1.0-javadoc.jar has nothing of what it is for",
            "io/mortise/one/1.0/one-1.0-sources.jar has nothing of what it is for");
  }

  @Test
  void givenJavadocOfInternalPackages_thenItIsNamed() throws Exception {
    stage();
    write("one-1.0-javadoc.jar", jar("index.html", "io/mortise/one/internal/Hidden.html"));
    assertThat(faults())
        .containsExactly("io/mortise/one/1.0/one-1.0-javadoc.jar shows internal packages");
  }

  @Test
  void givenFileThatWasChangedAfterwards_thenItsChecksumsTell() throws Exception {
    stage();
    Files.writeString(at("one-1.0.pom"), POM + "\n");
    assertThat(faults()).hasSize(4).allMatch(fault -> fault.endsWith("is that of something else"));
  }

  @Test
  void givenDependencyOnSomethingUnpublishedOrOnASnapshot_thenItIsNamed() throws Exception {
    stage();
    write(
        "one-1.0.pom",
        POM.replace(
                "</project>",
                "<dependencies><dependency><groupId>io.mortise</groupId><artifactId>hidden</artifactId>"
                    + "<version>1.0</version></dependency><dependency><groupId>other</groupId>"
                    + "<artifactId>other</artifactId><version>2-SNAPSHOT</version></dependency>"
                    + "</dependencies></project>")
            .getBytes(StandardCharsets.UTF_8));
    assertThat(faults())
        .containsExactly(
            "io/mortise/one/1.0/one-1.0.pom names a snapshot",
            "io/mortise/one/1.0/one-1.0.pom needs hidden, which is not published");
  }

  @Test
  void givenOtherArtifactsThanThoseToBePublished_thenTheyAreNamed() throws Exception {
    stage();
    assertThat(StagedRepository.faults(folder, Set.of("two")))
        .containsExactly("two is missing", "one is there, and not to be published");
  }

  @Test
  void givenBillOfMaterialsOfAnotherArtifact_thenItIsNamed() throws Exception {
    stage();
    write("one-1.0-cyclonedx.json", bytes("{\"bomFormat\": \"CycloneDX\"}"));
    assertThat(faults())
        .containsExactly(
            "io/mortise/one/1.0/one-1.0-cyclonedx.json is no bill of materials of this artifact");
  }

  private List<String> faults() throws IOException {
    return StagedRepository.faults(folder, Set.of("one")).stream().sorted().toList();
  }

  private void stage() throws IOException {
    Files.createDirectories(at("x").getParent());
    write("one-1.0.pom", bytes(POM));
    write("one-1.0.jar", jar("META-INF/MANIFEST.MF"));
    write("one-1.0-sources.jar", jar("One.java"));
    write("one-1.0-javadoc.jar", jar("index.html"));
    write(
        "one-1.0-cyclonedx.json",
        bytes(
            "{\"bomFormat\": \"CycloneDX\", \"purl\": \"pkg:maven/io.mortise/one@1.0?type=jar\"}"));
  }

  private void write(String name, byte[] content) throws IOException {
    Files.write(at(name), content);
    for (Map.Entry<String, String> kind : CHECKSUMS.entrySet()) {
      Files.writeString(
          at(name + kind.getKey()), StagedRepository.digest(kind.getValue(), content));
    }
  }

  private Path at(String name) {
    return folder.resolve("io/mortise/one/1.0").resolve(name);
  }

  private static byte[] jar(String... entries) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(content)) {
      for (String entry : entries) {
        zip.putNextEntry(new ZipEntry(entry));
        zip.closeEntry();
      }
    }
    return content.toByteArray();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
