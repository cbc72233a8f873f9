package io.mortise.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** A POM file. Inheritance is limited to parents in the same repository. */
record Pom(Path file, Element project, Optional<Pom> parent) {

  /** A dependency as it is written, managed or not. */
  record PomDependency(String group, String artifact, String version, String scope) {}

  /** Reads a file and the parents that lie in the folders above it. */
  static Pom read(Path file) throws IOException {
    Element project = parse(file);
    Optional<Pom> parent = Optional.empty();
    Optional<String> wanted = text(project, "parent", "artifactId");
    for (Path above = file.toAbsolutePath().getParent().getParent();
        wanted.isPresent() && parent.isEmpty() && above != null;
        above = above.getParent()) {
      Path candidate = above.resolve("pom.xml");
      if (Files.isRegularFile(candidate) && text(parse(candidate), "artifactId").equals(wanted)) {
        parent = Optional.of(read(candidate));
      }
    }
    return new Pom(file, project, parent);
  }

  /** The POM of a folder and those of all its modules, and of their modules. */
  static List<Pom> withModules(Path folder) throws IOException {
    List<Pom> found = new ArrayList<>();
    Pom pom = read(folder.resolve("pom.xml"));
    found.add(pom);
    for (Element modules : children(pom.project, "modules")) {
      for (Element module : children(modules, "module")) {
        found.addAll(withModules(folder.resolve(module.getTextContent().strip())));
      }
    }
    return found;
  }

  String artifact() {
    return text(project, "artifactId").orElseThrow();
  }

  String packaging() {
    return text(project, "packaging").orElse("jar");
  }

  /** Whether a release contains it. */
  boolean published() {
    return !"true".equals(inherited("properties", "maven.deploy.skip").orElse("false"));
  }

  /** The text at a path of elements, here or in the nearest parent that has it. */
  Optional<String> inherited(String... path) {
    Optional<String> here = text(project, path);
    return here.isPresent() ? here : parent.flatMap(pom -> pom.inherited(path));
  }

  Optional<String> own(String... path) {
    return text(project, path);
  }

  List<PomDependency> dependencies() {
    return dependencies(project);
  }

  List<PomDependency> managed() {
    return children(project, "dependencyManagement").stream()
        .flatMap(management -> dependencies(management).stream())
        .toList();
  }

  private static List<PomDependency> dependencies(Element parent) {
    return children(parent, "dependencies").stream()
        .flatMap(all -> children(all, "dependency").stream())
        .map(
            one ->
                new PomDependency(
                    text(one, "groupId").orElse(""),
                    text(one, "artifactId").orElse(""),
                    text(one, "version").orElse(""),
                    text(one, "scope").orElse("compile")))
        .toList();
  }

  private static Optional<String> text(Element from, String... path) {
    Optional<Element> at = Optional.of(from);
    for (String name : path) {
      at = at.flatMap(element -> children(element, name).stream().findFirst());
    }
    return at.map(element -> element.getTextContent().strip()).filter(text -> !text.isEmpty());
  }

  private static List<Element> children(Element of, String name) {
    List<Element> found = new ArrayList<>();
    for (Node node = of.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element && element.getTagName().equals(name)) {
        found.add(element);
      }
    }
    return found;
  }

  private static Element parse(Path file) throws IOException {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
    } catch (ParserConfigurationException | SAXException e) {
      throw new IOException("'" + file + "' is no readable POM", e);
    }
  }
}
