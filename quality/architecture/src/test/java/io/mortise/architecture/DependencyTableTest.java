package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.architecture.Documentation.Page;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * The table of dependencies lists the compile and runtime dependencies of each published artifact,
 * including those of Mortise artifacts among them. It exposes an adapter that begins to drag in a
 * library.
 */
class DependencyTableTest {
  private static final String PAGE = "reference/dependencies.md";
  private static final String OURS = "mortise-";

  /** Inherited by every module. */
  private static final String INHERITED = "jspecify";

  private record Dependency(String artifact, boolean yours) {}

  /** The POMs of all modules, by artifact. */
  private final Map<String, Path> poms = new HashMap<>();

  @BeforeEach
  void readModules() throws IOException {
    Pom.withModules(Documentation.ROOT).forEach(pom -> poms.put(pom.artifact(), pom.file()));
  }

  @Test
  void givenPublishedArtifacts_thenTheTableHasWhatTheirPomsDeclare() throws Exception {
    List<String> rows = new ArrayList<>();
    for (Element managed : dependencies(parsed(pom("mortise-bom")), "dependencyManagement")) {
      rows.add(row(text(managed, "artifactId")));
    }
    assertThat(rows).hasSizeGreaterThan(15);
    List<String> printed =
        Documentation.pages(PAGE::equals).stream()
            .map(Page::lines)
            .flatMap(List::stream)
            .filter(line -> line.startsWith("| `" + OURS))
            .toList();
    assertThat(printed).as("rows of docs/%s", PAGE).containsExactlyElementsOf(rows);
  }

  @Test
  void givenPomWithEachScope_thenItsOwnLibrariesAndThoseOfTheUserAreToldApart() throws Exception {
    String pom =
        """
        <project><dependencies>
        <dependency><artifactId>a</artifactId></dependency>
        <dependency><artifactId>b</artifactId><scope>runtime</scope></dependency>
        <dependency><artifactId>c</artifactId><scope>provided</scope></dependency>
        <dependency><artifactId>d</artifactId><optional>true</optional></dependency>
        <dependency><artifactId>e</artifactId><scope>test</scope></dependency>
        </dependencies></project>
        """;
    Path file = Files.createTempFile("pom", ".xml");
    try {
      Files.writeString(file, pom);
      assertThat(declared(file))
          .containsExactly(
              new Dependency("a", false),
              new Dependency("b", false),
              new Dependency("c", true),
              new Dependency("d", true));
    } finally {
      Files.delete(file);
    }
  }

  private String row(String artifact) throws Exception {
    Set<String> brought = new TreeSet<>();
    bring(artifact, brought);
    Set<String> yours =
        declared(pom(artifact)).stream()
            .filter(Dependency::yours)
            .map(Dependency::artifact)
            .collect(Collectors.toCollection(TreeSet::new));
    yours.removeAll(brought);
    return "| `%s` | %s | %s |"
        .formatted(artifact, listed(brought), listed(yours))
        .replace("|  |", "| |");
  }

  private static String listed(Set<String> artifacts) {
    return artifacts.stream()
        .map(artifact -> "`" + artifact + "`")
        .collect(Collectors.joining(", "));
  }

  private void bring(String artifact, Set<String> brought) throws Exception {
    brought.add(INHERITED);
    for (Dependency each : declared(pom(artifact))) {
      if (!each.yours() && brought.add(each.artifact()) && each.artifact().startsWith(OURS)) {
        bring(each.artifact(), brought);
      }
    }
  }

  private Path pom(String artifact) {
    return Objects.requireNonNull(poms.get(artifact), artifact);
  }

  private static List<Dependency> declared(Path pom) throws Exception {
    List<Dependency> declared = new ArrayList<>();
    for (Element each : dependencies(parsed(pom), "project")) {
      String scope = text(each, "scope");
      if (!scope.equals("test")) {
        declared.add(
            new Dependency(
                text(each, "artifactId"),
                scope.equals("provided") || text(each, "optional").equals("true")));
      }
    }
    return declared;
  }

  private static Document parsed(Path pom) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
  }

  /** The dependencies in the list directly below an element of that name. */
  private static List<Element> dependencies(Document pom, String parent) {
    List<Element> found = new ArrayList<>();
    children(pom.getElementsByTagName(parent).item(0), "dependencies")
        .flatMap(list -> children(list, "dependency"))
        .forEach(found::add);
    return found;
  }

  private static Stream<Element> children(Node parent, String name) {
    List<Element> children = new ArrayList<>();
    for (Node at = parent.getFirstChild(); at != null; at = at.getNextSibling()) {
      if (at instanceof Element element && element.getTagName().equals(name)) {
        children.add(element);
      }
    }
    return children.stream();
  }

  private static String text(Element parent, String name) {
    return children(parent, name).map(Node::getTextContent).findFirst().orElse("").strip();
  }
}
