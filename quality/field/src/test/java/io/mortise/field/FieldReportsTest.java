package io.mortise.field;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page has a row for each tested report, and each row has a test. */
class FieldReportsTest {
  private static final Path ROOT = Path.of("../..");
  private static final Path PAGE = ROOT.resolve("docs/internals/field-reports.md");

  private static final Pattern MODULE = Pattern.compile("(?<=<module>)[^<]+");

  private static final Pattern THREAD = Pattern.compile("[\\w.-]+/[\\w.-]+#\\d+");

  /** {@code Class#method}, or the beginning of a long method name. */
  private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)…?`");

  /**
   * A row of the page.
   *
   * @param tests of the form {@code Class#beginning of the method}
   */
  private record Row(List<String> threads, List<String> tests) {}

  private static List<Row> rows() throws IOException {
    try (Stream<String> lines = Files.lines(PAGE)) {
      return lines
          .filter(line -> line.startsWith("| ") && THREAD.matcher(line).find())
          .map(line -> line.split("\\|", -1))
          .map(
              cells ->
                  new Row(
                      all(THREAD, cells[1]),
                      TEST.matcher(cells[cells.length - 2])
                          .results()
                          .map(test -> test.group(1) + "#" + test.group(2))
                          .toList()))
          .toList();
    }
  }

  private static List<String> all(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(MatchResult::group).toList();
  }

  /** The source of all tests, by class. */
  private static List<Path> sources() throws IOException {
    List<Path> found = new ArrayList<>();
    for (String module : all(MODULE, Files.readString(ROOT.resolve("pom.xml")))) {
      for (String part : List.of("src/test", "src/main")) {
        Path folder = ROOT.resolve(module).resolve(part);
        if (Files.isDirectory(folder)) {
          try (Stream<Path> files = Files.walk(folder)) {
            files.filter(file -> file.toString().matches(".*\\.(java|kt)")).forEach(found::add);
          }
        }
      }
    }
    return found;
  }

  @Test
  void givenRow_thenItsTestsAreThere_andNoThreadHasTwoRows() throws IOException {
    List<Path> sources = sources();
    List<String> missing = new ArrayList<>();
    List<String> threads = new ArrayList<>();
    for (Row row : rows()) {
      threads.addAll(row.threads());
      if (row.tests().isEmpty()) {
        missing.add("a test of " + row.threads());
      }
      for (String test : row.tests()) {
        String[] parts = test.split("#", 2);
        boolean isThere = false;
        for (Path source : sources) {
          String name = source.getFileName().toString();
          isThere |=
              name.startsWith(parts[0] + ".")
                  && Files.readString(source).matches("(?s).*\\b" + parts[1] + "\\w*\\(.*");
        }
        if (!isThere) {
          missing.add(test);
        }
      }
    }
    assertThat(missing).isEmpty();
    assertThat(threads).doesNotHaveDuplicates();
  }

  @Test
  void givenReportOfATest_thenItsRowNamesTheTest() throws IOException {
    List<Row> rows = rows();
    List<String> missing = new ArrayList<>();
    for (Path source : sources()) {
      String name = source.getFileName().toString();
      if (source.getParent().endsWith("io/mortise/field") && name.endsWith("Test.java")) {
        missing.addAll(withoutRow(name.replace(".java", ""), rows));
      }
    }
    assertThat(missing).isEmpty();
  }

  private static List<String> withoutRow(String name, List<Row> rows) {
    try {
      Class<?> test = Class.forName("io.mortise.field." + name);
      List<String> missing = new ArrayList<>();
      Arrays.stream(test.getDeclaredMethods())
          .filter(method -> method.isAnnotationPresent(Report.class))
          .forEach(
              method -> {
                Set<String> named =
                    rows.stream()
                        .filter(
                            row ->
                                row.tests().stream()
                                    .anyMatch(it -> (name + "#" + method.getName()).startsWith(it)))
                        .flatMap(row -> row.threads().stream())
                        .collect(Collectors.toCollection(TreeSet::new));
                Stream.of(method.getAnnotation(Report.class).value())
                    .filter(thread -> !named.contains(thread))
                    .forEach(thread -> missing.add(thread + " of " + method.getName()));
              });
      return missing;
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }
}
