package io.mortise.field.rolling;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A built checkout of the project, with the shop and the tool: this one, or an earlier version.
 * Immutable.
 */
record Checkout(Path root) {

  /** The command that runs the shop, up to its arguments. */
  List<String> shop(List<String> jvmOptions) throws IOException {
    Path target = root.resolve("examples/shop/target");
    List<String> classPath = new ArrayList<>();
    classPath.add(target.resolve("classes").toString());
    classPath.add(Files.readString(target.resolve("shop.classpath")).strip());
    classPath.addAll(toolJars("mortise-etcd-"));
    List<String> command = new ArrayList<>(java());
    command.addAll(List.of("-Xmx160m", "-Dlogging.level.com.zaxxer=ERROR"));
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", String.join(":", classPath), "shop.Shop"));
    return command;
  }

  static List<String> java() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1");
  }

  /** The shop does not depend on the etcd store. */
  private List<String> toolJars(String prefix) throws IOException {
    Path tool = root.resolve("target/mortise");
    Path app = tool.resolve(Files.readString(tool.resolve("current")).strip());
    try (Stream<Path> jars = Files.list(app.resolve("lib"))) {
      return jars.filter(jar -> jar.getFileName().toString().startsWith(prefix))
          .map(Path::toString)
          .toList();
    }
  }

  /** The schema of the shop's tables. */
  Path schema() {
    return root.resolve("examples/shop/src/main/resources/schema.sql");
  }

  /** The command {@code mortise}, up to its arguments. */
  List<String> tool(List<String> jvmOptions) {
    return List.of(
        "env",
        "MORTISE_BUILD=no",
        "MORTISE_JAVA_OPTS=" + String.join(" ", jvmOptions),
        root.resolve("mortise").toString());
  }
}
