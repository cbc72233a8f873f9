package io.mortise.verification.library;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs a main class with other versions of libraries, in a separate JVM: a class path cannot have
 * two versions of one artifact. Immutable.
 */
public final class LibraryVersions {
  private final String classPath;

  private LibraryVersions(String classPath) {
    this.classPath = classPath;
  }

  /** The class path of this JVM, with the artifacts of the folder in place of its versions. */
  public static LibraryVersions in(Path folder) {
    List<Path> path = new ArrayList<>();
    try (Stream<Path> jars = Files.list(folder)) {
      path.addAll(jars.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Set<String> replaced = path.stream().map(LibraryVersions::library).collect(Collectors.toSet());
    for (String entry :
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
            .split(File.pathSeparator, -1)) {
      if (!replaced.contains(library(Path.of(entry)))) {
        path.add(Path.of(entry));
      }
    }
    return new LibraryVersions(
        path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
  }

  /**
   * An artifact without its version. All Netty artifacts count as one, as their versions must
   * agree.
   */
  private static String library(Path jar) {
    String name = jar.getFileName().toString().replaceFirst("-[0-9].*", "");
    return name.startsWith("netty-") ? "netty" : name;
  }

  /**
   * Runs the class to its end. Blocks.
   *
   * @return its output, including errors
   * @throws AssertionError if it exits with a status other than 0
   * @throws InterruptedException if this thread is interrupted; the JVM has been stopped then
   */
  public String run(Class<?> main, String... arguments) throws InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath,
                main.getName()));
    command.addAll(List.of(arguments));
    Process process = null;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      if (process != null) {
        process.destroyForcibly();
      }
    }
  }
}
