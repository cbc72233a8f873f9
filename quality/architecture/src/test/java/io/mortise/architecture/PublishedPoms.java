package io.mortise.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Required contents of the POMs of published modules. */
final class PublishedPoms {
  private static final String GROUP = "io.mortise";
  private static final String BOM = "mortise-bom";

  /** Elements that a public repository demands of each POM, own or inherited. */
  private static final List<String[]> REQUIRED =
      List.of(
          new String[] {"name"},
          new String[] {"description"},
          new String[] {"url"},
          new String[] {"licenses", "license", "name"},
          new String[] {"licenses", "license", "url"},
          new String[] {"developers", "developer", "name"},
          new String[] {"scm", "connection"},
          new String[] {"scm", "developerConnection"},
          new String[] {"scm", "url"});

  private PublishedPoms() {}

  /** Returns the faults of a repository's POMs, each with its remedy. */
  static List<String> faults(List<Pom> poms) {
    List<String> faults = new ArrayList<>();
    for (Pom pom : poms) {
      if (pom.published()) {
        check(pom, faults);
      }
    }
    checkBom(poms, faults);
    return faults;
  }

  /** Artifacts that a release contains. */
  static Set<String> published(List<Pom> poms) {
    Set<String> names = new TreeSet<>();
    poms.stream().filter(Pom::published).forEach(pom -> names.add(pom.artifact()));
    return names;
  }

  private static void check(Pom pom, List<String> faults) {
    for (String[] path : REQUIRED) {
      // An inherited name or description describes another module.
      boolean own = path.length == 1 && !path[0].equals("url");
      boolean there = (own ? pom.own(path) : pom.inherited(path)).isPresent();
      if (!there) {
        faults.add(
            "%s has no <%s>, which a release needs. Add it, or set maven.deploy.skip if the module is not published."
                .formatted(pom.artifact(), String.join("><", path)));
      }
    }
    pom.parent()
        .filter(parent -> !parent.published())
        .ifPresent(
            parent ->
                faults.add(
                    "%s is published, but its parent %s is not. Publish both, or neither."
                        .formatted(pom.artifact(), parent.artifact())));
  }

  private static void checkBom(List<Pom> poms, List<String> faults) {
    Set<String> libraries = new TreeSet<>();
    Set<String> listed = new TreeSet<>();
    for (Pom pom : poms) {
      if (pom.published() && pom.packaging().equals("jar")) {
        libraries.add(pom.artifact());
      }
      if (pom.artifact().equals(BOM)) {
        pom.managed().stream()
            .filter(managed -> managed.group().equals(GROUP))
            .forEach(managed -> listed.add(managed.artifact()));
      }
    }
    for (String library : libraries) {
      if (!listed.contains(library)) {
        faults.add(
            "%s is published, but missing in bom/pom.xml. Add it there, or set maven.deploy.skip."
                .formatted(library));
      }
    }
    for (String name : listed) {
      if (!libraries.contains(name)) {
        faults.add("bom/pom.xml lists %s, which is not published. Remove it.".formatted(name));
      }
    }
  }
}
