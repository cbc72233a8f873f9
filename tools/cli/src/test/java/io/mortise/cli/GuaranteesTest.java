package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.guarantee.Guarantee;
import io.mortise.guarantee.GuaranteeLevel;
import io.mortise.guarantee.GuaranteeTable;
import io.mortise.guarantee.StoreMode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The guarantee table, its generated pages, and the tests that it names. */
class GuaranteesTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path PAGE = ROOT.resolve("docs/reference/guarantees.md");
  private static final Pattern MODULE = Pattern.compile("<module>((?:[^<]*/)?([^</]+))</module>");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)(?:#[^)]*)?\\)");
  private static final Pattern EXTENDS = Pattern.compile("\\bextends (\\w+)");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Map<String, Map<String, Path>> sources = new HashMap<>();

  @Test
  void givenTable_whenItsPageIsMade_thenItIsThatInTheDocs() throws IOException {
    assertThat(execute("guarantees", "--markdown")).isZero();
    assertThatPageIs(PAGE, out.toString(UTF_8));
  }

  @Test
  void givenStore_whenItsPageOfTheSiteIsMade_thenItSaysAllOfEachCell_andItsLinksLeadSomewhere() {
    GuaranteeTable table = GuaranteeTable.load();
    for (StoreMode mode : table.modes()) {
      assertThat(execute("guarantees", "--markdown", mode.store())).isZero();
      String page = out.toString(UTF_8);
      assertThat(page).contains("| `" + mode.id() + "` | " + mode.title() + " |");
      for (Guarantee cell : table.row(mode.id())) {
        assertThat(page).contains("\n## " + cell.fault().title() + "\n", cell.because());
        assertThat(cell.tests()).allMatch(page::contains);
      }
      // The site has it below reference/guarantees.
      LINK.matcher(page)
          .results()
          .map(link -> PAGE.resolveSibling("guarantees").resolve(link.group(1)).normalize())
          .forEach(target -> assertThat(target).exists());
    }
  }

  private static void assertThatPageIs(Path page, String text) throws IOException {
    if (Boolean.getBoolean("mortise.docs.update")) {
      Files.writeString(page, text);
    }
    List<String> made = text.lines().toList();
    List<String> there = Files.readAllLines(page);
    int same = 0;
    while (same < Math.min(made.size(), there.size()) && made.get(same).equals(there.get(same))) {
      same++;
    }
    assertThat(made.size() == there.size() && same == made.size())
        .as(
            "%s is what guarantees.ini makes, up to line %d. Make it anew by"
                + " -Dmortise.docs.update=true, see docs/internals/verification.md, 'Guarantee table'",
            ROOT.relativize(page), same + 1)
        .isTrue();
  }

  @Test
  void givenTestsThatTheTableNames_whenLookedUp_thenEachIsThere() {
    Set<String> missing = new TreeSet<>();
    Set<String> named = new TreeSet<>();
    GuaranteeTable table = GuaranteeTable.load();
    table.modes().stream()
        .flatMap(mode -> table.row(mode.id()).stream())
        .flatMap(cell -> cell.tests().stream())
        .filter(named::add)
        .filter(test -> !isThere(test))
        .forEach(missing::add);
    assertThat(missing).as("tests that guarantees.ini names and nobody has").isEmpty();
    assertThat(named).hasSizeGreaterThan(50);
  }

  @Test
  void givenTestThatNobodyHas_whenLookedUp_thenItIsNoticed() {
    assertThat(
            isThere(
                "redis:RedisFaultTest#givenServerIsKilledWithRequestsUnderWay_thenEachIsAnsweredOnce"))
        .isTrue();
    assertThat(isThere("redis:RedisFaultTest#givenNothing_thenNothing")).isFalse();
    assertThat(isThere("redis:NoSuchTest#givenNothing_thenNothing")).isFalse();
    String method = "#givenManyHoldsOneAfterTheOther_thenBlocksOfTokensRiseAndDoNotOverlap";
    assertThat(isThere("redis:Redis7ContractTest>TokenSuite" + method)).isTrue();
    assertThat(isThere("redis:Redis7ClientTest>TokenSuite" + method))
        .as("a contract that does not run that suite")
        .isFalse();
    assertThat(isThere("redis:RedisFaultTest>TokenSuite" + method)).isFalse();
  }

  @Test
  void givenStore_whenItsGuaranteesAreAsked_thenEachHasItsReason() {
    assertThat(execute("guarantees", "redis/forgets")).isZero();
    assertThat(out.toString(UTF_8))
        .startsWith("redis/forgets: Redis or Valkey, one server")
        .contains("Client pause: detected by token", "  Server crash: ")
        .doesNotContain("redis/always");
    assertThat(execute("guarantees")).isZero();
    assertThat(out.toString(UTF_8))
        .contains("postgresql/unsafe: ", "may go unnoticed   power loss");
    assertThat(execute("guarantees", "--json", "mysql")).isZero();
    assertThat(out.toString(UTF_8))
        .contains("\"mode\" : \"mysql/lazy\"", "\"fault\" : \"power-loss\"")
        .doesNotContain("mariadb");
    assertThat(execute("guarantees", "papyrus")).isEqualTo(ExitStatus.USAGE);
    assertThat(err.toString(UTF_8)).contains("no store 'papyrus'", "redis/always");
  }

  @Test
  void givenWorstAnswer_thenItIsRare() {
    GuaranteeTable table = GuaranteeTable.load();
    List<Guarantee> worst = new ArrayList<>();
    table.modes().forEach(mode -> worst.addAll(table.row(mode.id())));
    worst.removeIf(cell -> cell.answer() != GuaranteeLevel.UNNOTICED);
    assertThat(worst)
        .extracting(cell -> cell.mode().id())
        .containsOnly(
            "postgresql/unsafe",
            "redis-plain",
            "zk",
            "zk+curator",
            "etcd",
            "consul",
            "consul/memory",
            "database",
            "database/lazy",
            "dynamodb",
            "nats",
            "memcached",
            "memcached/evicting");
  }

  private int execute(String... words) {
    out.reset();
    err.reset();
    return Main.execute(
        new CliEnvironment(
            Map.of(),
            (url, ttl) -> new FakeClient(),
            InputStream.nullInputStream(),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8)),
        words);
  }

  /** {@code module:Class#method} or {@code module:Class>Suite#method}. */
  private boolean isThere(String test) {
    int colon = test.indexOf(':');
    int hash = test.indexOf('#');
    String module = test.substring(0, colon);
    String[] classes = test.substring(colon + 1, hash).split(">", -1);
    Optional<String> runner = source(module, classes[0]);
    if (classes.length == 1) {
      return runner.filter(text -> declares(text, test.substring(hash + 1))).isPresent();
    }
    Optional<String> suite = source(module, classes[1]).or(() -> source("testkit", classes[1]));
    return runner.filter(text -> runs(module, text, classes[1])).isPresent()
        && suite.filter(text -> declares(text, test.substring(hash + 1))).isPresent();
  }

  private static boolean declares(String source, String method) {
    return Pattern.compile("\\bvoid\\s+" + method + "\\(").matcher(source).find();
  }

  /**
   * Whether a class runs a suite: by extending it, or a class of the module that does, or a
   * contract with a nested class.
   */
  private boolean runs(String module, String source, String suite) {
    return EXTENDS
        .matcher(source)
        .results()
        .map(found -> found.group(1))
        .anyMatch(
            parent ->
                parent.equals(suite)
                    || source(module, parent)
                        .or(() -> source("testkit", parent))
                        .filter(text -> text.contains("extends " + suite + " {"))
                        .isPresent());
  }

  private Optional<String> source(String module, String type) {
    return Optional.ofNullable(
            sources.computeIfAbsent(module, GuaranteesTest::files).get(type + ".java"))
        .map(GuaranteesTest::read);
  }

  private static Map<String, Path> files(String module) {
    Map<String, Path> found = new HashMap<>();
    try (Stream<Path> files = Files.walk(folder(module).resolve("src"))) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .forEach(file -> found.put(file.getFileName().toString(), file));
    } catch (IOException e) {
      throw new AssertionError("There is no module '" + module + "'.", e);
    }
    return found;
  }

  /**
   * The table names a module as its folder is named, without the group of modules that it is in.
   */
  private static Path folder(String module) throws IOException {
    return MODULE
        .matcher(Files.readString(ROOT.resolve("pom.xml")))
        .results()
        .filter(found -> found.group(2).equals(module))
        .map(found -> ROOT.resolve(found.group(1)))
        .findFirst()
        .orElseThrow(() -> new NoSuchFileException(module));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
