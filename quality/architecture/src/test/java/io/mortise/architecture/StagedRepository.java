package io.mortise.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A folder with the layout of a Maven repository, as {@code release/run stage} makes it. */
final class StagedRepository {
  private static final Map<String, String> CHECKSUMS =
      new TreeMap<>(
          Map.of(".md5", "MD5", ".sha1", "SHA-1", ".sha256", "SHA-256", ".sha512", "SHA-512"));

  private final Path folder;
  private final List<String> faults = new ArrayList<>();

  private StagedRepository(Path folder) {
    this.folder = folder;
  }

  /**
   * Returns its faults.
   *
   * @param published the artifacts that must be there, and no other
   */
  static List<String> faults(Path folder, Set<String> published) throws IOException {
    StagedRepository staged = new StagedRepository(folder);
    staged.check(published);
    return staged.faults;
  }

  private void check(Set<String> published) throws IOException {
    Set<String> found = new TreeSet<>();
    for (Path file : files()) {
      String name = file.getFileName().toString();
      if (name.endsWith(".pom")) {
        found.add(file.getParent().getParent().getFileName().toString());
        checkArtifact(file, published);
      }
      if (name.contains("SNAPSHOT")) {
        fault("%s is a snapshot", file);
      }
      if (CHECKSUMS.keySet().stream().noneMatch(name::endsWith) && !name.endsWith(".asc")) {
        checkChecksums(file);
      }
    }
    published.stream()
        .filter(name -> !found.contains(name))
        .forEach(name -> faults.add(name + " is missing"));
    found.stream()
        .filter(name -> !published.contains(name))
        .forEach(name -> faults.add(name + " is there, and not to be published"));
  }

  private void checkArtifact(Path file, Set<String> published) throws IOException {
    Pom pom = Pom.read(file);
    String version = file.getParent().getFileName().toString();
    String stem = pom.artifact() + "-" + version;
    if (!file.getFileName().toString().equals(stem + ".pom")) {
      fault("%s does not bear the name of its artifact", file);
    }
    if (Files.readString(file).contains("-SNAPSHOT")) {
      fault("%s names a snapshot", file);
    }
    for (Pom.PomDependency dependency : pom.dependencies()) {
      if (dependency.group().equals("io.mortise")
          && !dependency.scope().equals("test")
          && !published.contains(dependency.artifact())) {
        fault("%s needs " + dependency.artifact() + ", which is not published", file);
      }
    }
    Path sbom = file.resolveSibling(stem + "-cyclonedx.json");
    if (pom.packaging().equals("jar")) {
      // An application has its main class alone in an ordinary folder; a starter may have no class
      // at all.
      checkJar(file.resolveSibling(stem + ".jar"), entry -> entry.equals("META-INF/MANIFEST.MF"));
      checkJar(file.resolveSibling(stem + "-sources.jar"), entry -> entry.endsWith(".java"));
      Path javadoc = file.resolveSibling(stem + "-javadoc.jar");
      checkJar(javadoc, entry -> entry.equals("index.html"));
      if (has(javadoc, entry -> entry.contains("/internal/"))) {
        fault("%s shows internal packages", javadoc);
      }
      if (!Files.exists(sbom)) {
        fault("%s is missing", sbom);
      } else {
        String text = Files.readString(sbom);
        if (!text.contains("\"CycloneDX\"")
            || !text.contains("pkg:maven/io.mortise/" + pom.artifact() + "@" + version)) {
          fault("%s is no bill of materials of this artifact", sbom);
        }
      }
    }
  }

  private void checkJar(Path jar, Predicate<String> wanted) throws IOException {
    if (!Files.exists(jar)) {
      fault("%s is missing", jar);
      return;
    }
    if (!has(jar, wanted)) {
      fault("%s has nothing of what it is for", jar);
    }
  }

  private static boolean has(Path jar, Predicate<String> wanted) throws IOException {
    if (!Files.exists(jar)) {
      return false;
    }
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.stream().map(ZipEntry::getName).anyMatch(wanted);
    }
  }

  private void checkChecksums(Path file) throws IOException {
    byte[] content = Files.readAllBytes(file);
    for (Map.Entry<String, String> kind : CHECKSUMS.entrySet()) {
      Path checksum = file.resolveSibling(file.getFileName() + kind.getKey());
      if (!Files.exists(checksum)) {
        fault("%s is missing", checksum);
      } else if (!Files.readString(checksum, StandardCharsets.US_ASCII)
          .strip()
          .equals(digest(kind.getValue(), content))) {
        fault("%s is that of something else", checksum);
      }
    }
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void fault(String what, Path where) {
    faults.add(what.formatted(folder.relativize(where)));
  }

  static String digest(String algorithm, byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
