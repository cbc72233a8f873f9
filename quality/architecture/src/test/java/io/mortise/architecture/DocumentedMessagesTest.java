package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Messages and loggers on the pages are those of the sources. */
class DocumentedMessagesTest {
  private static final String LOGGING = "docs/reference/logging.md";
  private static final String TROUBLESHOOTING = "docs/guides/troubleshooting.md";

  /** Modules that write to no user's log or terminal. */
  private static final Set<String> SILENT =
      Set.of("bench", "test-servers", "testkit", "torture", "verification");

  private static final Pattern LOGGER =
      Pattern.compile("getLogger\\((?:(\\w+)\\.class|\"([\\w.]+)\")\\)");
  private static final Pattern LOGGED =
      Pattern.compile("\\blog\\s*\\.(info|warn|error|atLevel|atInfo|atWarn|atError)\\(");
  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");

  /** The text of all sources, with literals in one piece and one sign for each placeholder. */
  private static String messages = "";

  /** All loggers of the library, by their full names. */
  private static final Set<String> LOGGERS = new TreeSet<>();

  /** Loggers with lines at INFO or above. */
  private static final Set<String> LOUD = new TreeSet<>();

  @BeforeAll
  static void read() throws IOException {
    StringBuilder text = new StringBuilder();
    for (Path source : Modules.mainSources(Documentation.ROOT)) {
      String module = Modules.name(source);
      if (SILENT.contains(module)) {
        continue;
      }
      String code = Files.readString(source);
      text.append(code).append('\n');
      Optional<String> logger = module.equals("cli") ? Optional.empty() : logger(source, code);
      logger.ifPresent(LOGGERS::add);
      if (LOGGED.matcher(code).find()) {
        logger.ifPresent(LOUD::add);
      }
    }
    messages = normalized(text.toString());
  }

  private static String normalized(String code) {
    return code.replaceAll("\"\\s*\\+\\s*\"", "")
        .replaceAll("%[sd]", "{}")
        .replace("%%", "%")
        .replace("'{}'", "{}");
  }

  /** Most often the class itself; some classes log under the name that users know. */
  private static Optional<String> logger(Path source, String code) {
    Matcher found = LOGGER.matcher(code);
    if (!found.find()) {
      return Optional.empty();
    }
    String name = found.group(1);
    if (name == null) {
      return Optional.of(found.group(2));
    }
    Matcher imported = Pattern.compile("import ([\\w.]+\\." + name + ");").matcher(code);
    Matcher home = Pattern.compile("package ([\\w.]+);").matcher(code);
    assertThat(home.find()).as("package of %s", source).isTrue();
    return Optional.of(imported.find() ? imported.group(1) : home.group(1) + "." + name);
  }

  private static List<String> rows(String page, String from, String to) throws IOException {
    List<String> lines = Files.readAllLines(Documentation.ROOT.resolve(page));
    int begin = lines.indexOf(from);
    int end = to.isEmpty() ? lines.size() : lines.indexOf(to);
    assertThat(begin).as("heading '%s' of %s", from, page).isNotNegative();
    assertThat(end).as("heading '%s' of %s", to, page).isGreaterThan(begin);
    return lines.subList(begin, end).stream().filter(line -> line.startsWith("| ")).toList();
  }

  private static String cell(String row, int index) {
    return row.split("\\|", -1)[index + 1].strip();
  }

  private static Stream<String> quoted(String cell) {
    return QUOTED.matcher(cell).results().map(found -> found.group(1));
  }

  private static List<String> messageRows() throws IOException {
    return rows(LOGGING, "## Messages", "## Quieter clients").stream()
        .filter(row -> cell(row, 0).matches("(INFO|WARN|ERROR|, )+"))
        .toList();
  }

  @Test
  void givenLoggersOfTheLibrary_thenTheTableOfMessagesHasThem_andNoOther() throws IOException {
    List<String> documented =
        messageRows().stream().flatMap(row -> quoted(cell(row, 1))).distinct().toList();
    assertThat(LOUD).hasSizeGreaterThan(25);
    assertThat(documented)
        .as("classes of the table without a logger")
        .allMatch(name -> LOGGERS.stream().anyMatch(logger -> logger.endsWith("." + name)));
    assertThat(LOUD)
        .as("loggers without a message in the table")
        .allMatch(logger -> documented.stream().anyMatch(name -> logger.endsWith("." + name)));
  }

  @Test
  void givenLoggersOfTheLibrary_thenTheTableOfLoggersHasTheirPackages_andNoOther()
      throws IOException {
    List<String> documented =
        rows(LOGGING, "## Loggers", "## Alerts").stream()
            .flatMap(row -> quoted(cell(row, 0)))
            .filter(name -> !name.equals("io.mortise"))
            .toList();
    assertThat(documented)
        .as("packages of the table without a logger")
        .allMatch(name -> LOGGERS.stream().anyMatch(logger -> logger.startsWith(name + ".")));
    assertThat(LOUD)
        .as("loggers of no package in the table")
        .allMatch(logger -> documented.stream().anyMatch(name -> logger.startsWith(name + ".")));
  }

  @Test
  void givenMessagesOfTheTable_thenTheSourcesHaveThem() throws IOException {
    List<String> missing = new ArrayList<>();
    for (String row : messageRows()) {
      Arrays.stream(cell(row, 2).split(", |…|\\{store}"))
          .map(String::strip)
          .filter(part -> !isInSources(part))
          .forEach(part -> missing.add(part + " (in: " + row + ")"));
    }
    assertThat(missing).as("parts of messages that no source has").isEmpty();
  }

  @Test
  void givenMessagesThatTroubleshootingQuotes_thenTheSourcesHaveThem() throws IOException {
    List<String> missing = new ArrayList<>();
    int quotes = 0;
    for (String row : rows(TROUBLESHOOTING, "## Connecting", "## Command line")) {
      for (String quote : quoted(cell(row, 0)).toList()) {
        quotes++;
        Arrays.stream(quote.split("…"))
            .map(DocumentedMessagesTest::withoutQuotationMarks)
            .filter(part -> !isInSources(part))
            .forEach(part -> missing.add(part + " (in: " + quote + ")"));
      }
    }
    assertThat(missing).as("parts of messages that no source has").isEmpty();
    assertThat(quotes).isGreaterThan(60);
  }

  private static String withoutQuotationMarks(String part) {
    return part.replaceAll("^[' ]+|[' ]+$", "");
  }

  private static boolean isInSources(String part) {
    return messages.contains(part);
  }
}
