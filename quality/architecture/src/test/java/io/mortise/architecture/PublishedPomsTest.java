package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The POMs say all that a public repository demands, and the BOM lists what is published. */
class PublishedPomsTest {
  private static final String COMPLETE =
      """
      <url>u</url><licenses><license><name>n</name><url>u</url></license></licenses>
      <developers><developer><name>n</name></developer></developers>
      <scm><connection>c</connection><developerConnection>d</developerConnection><url>u</url></scm>
      """;

  @TempDir private Path folder;

  @Test
  void givenRepository_thenPublishedPomsAreCompleteAndListedInTheBom() throws Exception {
    List<Pom> poms = Pom.withModules(Documentation.ROOT);
    assertThat(PublishedPoms.faults(poms)).isEmpty();
    assertThat(PublishedPoms.published(poms))
        .contains("mortise-parent", "mortise-bom", "mortise-core", "mortise-cli")
        .doesNotContain("mortise-architecture", "mortise-bench", "mortise-spring-boot-4.1")
        .hasSizeGreaterThan(15);
  }

  @Test
  void givenBom_thenItSaysTheSameOfTheProjectAsItsRoot() throws Exception {
    Pom root = Pom.read(Documentation.ROOT.resolve("pom.xml"));
    Pom bom = Pom.read(Documentation.ROOT.resolve("bom/pom.xml"));
    assertThat(bom.parent()).isEmpty();
    for (String[] path :
        new String[][] {{"version"}, {"url"}, {"licenses"}, {"developers"}, {"scm"}}) {
      assertThat(bom.own(path)).as(path[0]).isEqualTo(root.own(path)).isPresent();
    }
  }

  @Test
  void givenPomsWithGaps_thenEachIsNoticed() throws Exception {
    write(
        "",
        "root",
        "<packaging>pom</packaging><name>n</name><description>d</description>"
            + "<modules><module>bare</module><module>hidden</module><module>bom</module></modules>");
    write("bare", "bare", parent("root") + "<name>n</name>");
    write(
        "hidden",
        "hidden",
        parent("root") + "<properties><maven.deploy.skip>true</maven.deploy.skip></properties>");
    write(
        "bom",
        "mortise-bom",
        "<packaging>pom</packaging><name>n</name><description>d</description>"
            + COMPLETE
            + "<dependencyManagement><dependencies><dependency>"
            + "<groupId>io.mortise</groupId><artifactId>hidden</artifactId>"
            + "</dependency></dependencies></dependencyManagement>");
    List<String> faults = PublishedPoms.faults(Pom.withModules(folder));
    assertThat(faults).filteredOn(fault -> fault.startsWith("root has no")).hasSize(7);
    assertThat(faults).filteredOn(fault -> fault.startsWith("bare has no")).hasSize(8);
    assertThat(faults)
        .hasSize(17)
        .anyMatch(fault -> fault.contains("bare has no <description>"))
        .anyMatch(fault -> fault.contains("bare is published, but missing in bom"))
        .anyMatch(fault -> fault.contains("lists hidden, which is not published"));
  }

  @Test
  void givenCompleteParent_thenItsChildNeedsOnlyItsNameAndItsDescription() throws Exception {
    write(
        "",
        "root",
        "<packaging>pom</packaging><name>n</name><description>d</description>"
            + COMPLETE
            + "<modules><module>child</module><module>bom</module></modules>");
    write("child", "child", parent("root") + "<name>n</name><description>d</description>");
    write(
        "bom",
        "mortise-bom",
        "<packaging>pom</packaging><name>n</name><description>d</description>"
            + COMPLETE
            + "<dependencyManagement><dependencies><dependency>"
            + "<groupId>io.mortise</groupId><artifactId>child</artifactId>"
            + "</dependency></dependencies></dependencyManagement>");
    assertThat(PublishedPoms.faults(Pom.withModules(folder))).isEmpty();
  }

  private static String parent(String name) {
    return "<parent><artifactId>" + name + "</artifactId></parent>";
  }

  private void write(String module, String artifact, String content) throws IOException {
    Path at = Files.createDirectories(folder.resolve(module)).resolve("pom.xml");
    Files.writeString(
        at, "<project><artifactId>" + artifact + "</artifactId>" + content + "</project>");
  }
}
