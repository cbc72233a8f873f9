package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.mortise.spi.LockStoreProvider;
import io.mortise.spi.StoreUrl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page of parameters has those that a store's URL may have, and no others. */
class DocumentedParametersTest {
  private static final Path DOCS = Path.of("../../docs");

  /** Rests of URLs, for schemes that alone do not lead to the store's parameters. */
  private static final Map<String, String> REST =
      Map.of(
          "jdbc:sqlite", "file",
          "jdbc", "derby://localhost:1/x",
          "dynamodb", "//localhost:1/table",
          "mem", "",
          "redis-sentinel", "//localhost:1/master",
          "rediss-sentinel", "//localhost:1/master",
          "redis-sharded", "//localhost:1,localhost:2",
          "rediss-sharded", "//localhost:1,localhost:2");

  private static final Pattern PARAMETER = Pattern.compile("`([A-Za-z-]+)`");

  /** The parameters that a store lists when it refuses an unknown one. */
  private static Set<String> parameters(LockStoreProvider provider, String scheme) {
    String url = scheme + ":" + REST.getOrDefault(scheme, "//localhost:1/x") + "?nobody-has-it=1";
    String message =
        catchThrowableOfType(
                IllegalArgumentException.class, () -> provider.open(StoreUrl.parse(url)))
            .getMessage();
    assertThat(message).as(url).contains("Unknown parameter 'nobody-has-it'");
    String known = message.substring(message.lastIndexOf("Known: ") + "Known: ".length());
    return Pattern.compile("[A-Za-z-]+")
        .matcher(known)
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * The documentation of a store's parameters: its section, and for databases that of drivers'
   * parameters.
   */
  private static String documentation(String page, String scheme) throws IOException {
    if (!scheme.startsWith("jdbc")) {
      return section(page, title(scheme));
    }
    Path stores = DOCS.resolve("stores");
    return section(page, title(scheme))
        + Files.readString(stores.resolve("postgresql.md"))
        + Files.readString(stores.resolve("mysql-and-mariadb.md"));
  }

  private static String title(String scheme) {
    return scheme.startsWith("jdbc")
        ? "SQL databases"
        : scheme.replaceAll("^rediss?(-.*)?$", "Redis").replaceAll("^zk.*", "ZooKeeper");
  }

  /** The parameters that a section has in first cells, or in its first sentence without a table. */
  private static Set<String> named(String section) {
    return section
        .lines()
        .filter(line -> line.startsWith("| `") || line.startsWith("The same"))
        .flatMap(line -> PARAMETER.matcher(line.replaceFirst("^\\| ([^|]*).*", "$1")).results())
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String section(String page, String title) {
    return Pattern.compile("\n## ")
        .splitAsStream(page)
        .filter(section -> section.lines().findFirst().orElseThrow().equalsIgnoreCase(title))
        .findFirst()
        .orElse("");
  }

  @Test
  void givenParametersOfAllStores_thenTheSectionOfEachHasThem_andNoOthers() throws IOException {
    String page =
        Files.readString(DOCS.resolve("reference/url-parameters.md"))
            .replaceAll("(?s)## Schemes.*?\n## ", "## ");
    Set<String> missing = new TreeSet<>();
    Map<String, Set<String>> known = new TreeMap<>();
    for (LockStoreProvider provider : ServiceLoader.load(LockStoreProvider.class)) {
      for (String scheme : provider.schemes()) {
        if (scheme.equals("quorum")) {
          continue; // Its members reject unknown parameters.
        }
        Set<String> documented = new TreeSet<>();
        PARAMETER
            .matcher(documentation(page, scheme))
            .results()
            .forEach(found -> documented.add(found.group(1)));
        Set<String> parameters = parameters(provider, scheme);
        known.computeIfAbsent(title(scheme), none -> new TreeSet<>()).addAll(parameters);
        for (String parameter : parameters) {
          if (!documented.contains(parameter)) {
            missing.add(scheme + " " + parameter);
          }
        }
      }
    }
    assertThat(missing)
        .as("parameters without a row in docs/reference/url-parameters.md")
        .isEmpty();
    known.forEach(
        (title, names) -> assertThat(names).as(title).containsAll(named(section(page, title))));
  }

  @Test
  void givenTable_thenItsFirstCellsNameParameters() {
    assertThat(named("etcd\n\n| `a`, `b-c` | `d` |\n\n`e`")).containsExactly("a", "b-c");
    assertThat(named("Consul\n\nThe same as of etcd: `f`.")).containsExactly("f");
  }
}
