package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.verification.mutant.EquivalentMutants;
import io.mortise.verification.mutant.MutantLog;
import io.mortise.verification.mutant.MutationOperators;
import io.mortise.verification.mutant.MutationTestRunner;
import io.mortise.verification.mutant.MutationTestRunner.TestStage;
import io.mortise.verification.mutant.ScriptMutant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Each small change to a statement is noticed by the tests of the store. */
@Timeout(180)
class SqlMutantsTest {
  private static final String FOLDER = "io/mortise/jdbc/";
  private static final String SHRINKING = "mortise.diff.shrinking";

  /** On which database those tests run that know several. */
  private static final String ONLY = "mortise.database";

  private static final Duration EACH = Duration.ofMinutes(4);
  private static final Path LISTS = Path.of("src/test/resources/io/mortise/jdbc/mutants");

  private final MutationTestRunner hunt =
      new MutationTestRunner(
          SqlMutantsTest.class,
          JdbcStore.class,
          Set.of(
              PostgresServers.class.getName(),
              MySqlServers.class.getName(),
              "io.mortise.sql.TestServers"));

  /** A run of the differential test that fails is all that is wanted, not the shortest. */
  @BeforeAll
  static void shortenNothing() {
    System.setProperty(SHRINKING, "0");
  }

  @AfterAll
  static void shortenAgain() {
    System.clearProperty(SHRINKING);
    System.clearProperty(ONLY);
  }

  /** On which databases, and which tests are to notice changes of their statements. */
  private enum MutantTarget {
    SQLITE(
        List.of("sqlite", "shared"),
        List.of("table.StatementsTest"),
        "SqliteDifferentialTest",
        "SqliteContractTest",
        "dialect.SqliteStoreTest",
        "SqliteClientTest",
        "dialect.SqliteProcessesTest"),
    POSTGRESQL(
        List.of("postgresql", "shared"),
        List.of(
            "table.FastPathEquivalenceTest",
            "table.LockedRowTest",
            "dialect.PostgresTimeoutTest",
            "table.PostgresStatementsTest",
            "table.ServerStatementsTest",
            "table.SessionStatementsTest",
            "table.ConnectionLocksTest"),
        "Postgres18DifferentialTest",
        "Postgres18ContractTest",
        "Postgres18ClientTest",
        "dialect.PostgresFaultTest",
        "dialect.PostgresClockTest",
        "dialect.PostgresPreflightTest",
        "dialect.PgBouncerTest",
        "notify.NotificationPollerTest"),
    MYSQL(
        List.of("mysql", "shared"),
        List.of(
            "table.MySqlStatementsTest",
            "table.ServerStatementsTest",
            "table.SessionStatementsTest",
            "table.ConnectionLocksTest"),
        "MySqlDifferentialTest",
        "MySqlContractTest",
        "batch.MySqlBatchTest",
        "MySqlClientTest",
        "dialect.MySqlFailureTest",
        "table.ContendedRequestTest",
        "dialect.MySqlClockTest"),
    MARIADB(
        List.of("mariadb", "mysql", "shared"),
        List.of(
            "table.MySqlStatementsTest",
            "table.ServerStatementsTest",
            "table.SessionStatementsTest",
            "table.ConnectionLocksTest"),
        "MariaDbDifferentialTest",
        "MariaDbContractTest",
        "batch.MySqlBatchTest",
        "MariaDbClientTest",
        "dialect.MySqlFailureTest",
        "table.ContendedRequestTest",
        "dialect.MariaDbClockTest"),
    DOCUMENT(
        List.of("document"),
        List.of("document.DocumentDatabaseTest", "document.HsqldbDocumentsTest"),
        "document.HsqldbDifferentialTest",
        "document.HsqldbContractTest",
        "document.HsqldbClientTest");

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<String> folders;

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<TestStage> testStages;

    /**
     * A database and its tests.
     *
     * @param folders where a statement is looked for, its own first
     * @param more in a last step
     */
    MutantTarget(
        List<String> folders,
        List<String> statements,
        String differential,
        String contract,
        String... more) {
      this.folders = folders;
      this.testStages =
          List.of(
              TestStage.oneByOne(in(first(statements, differential))),
              TestStage.together(in(contract)),
              TestStage.oneByOne(in(more)));
    }

    private static String[] first(List<String> statements, String differential) {
      return Stream.concat(statements.stream(), Stream.of(differential)).toArray(String[]::new);
    }

    /** The name of the database. */
    String database() {
      return folders.get(0);
    }

    /** Of the statements that it uses: its own, and of others' those that it has not. */
    List<ScriptMutant> mutants(String file) throws IOException {
      Path classes =
          Path.of(JdbcStore.class.getProtectionDomain().getCodeSource().getLocation().getPath());
      List<ScriptMutant> mutants = new ArrayList<>();
      Set<String> seen = new HashSet<>();
      for (String from : folders) {
        try (Stream<Path> files = Files.list(classes.resolve(FOLDER + from))) {
          for (Path each :
              files.filter(path -> path.toString().endsWith(".sql")).sorted().toList()) {
            String name = from + "/" + each.getFileName();
            if (seen.add(each.getFileName().toString())
                && (folders.get(0) + ":" + name).matches(file)) {
              mutants.addAll(MutationOperators.SQL.mutants(FOLDER + name, Files.readString(each)));
            }
          }
        }
      }
      return mutants;
    }
  }

  private static String[] in(String... tests) {
    return Stream.of(tests).map(test -> "io.mortise.jdbc." + test).toArray(String[]::new);
  }

  /** Each of {@code mutants/*.tsv} fits one mutant that there is, and has a reason. */
  @Test
  void givenListOfSurvivors_thenEachIsAMutant() throws IOException {
    assertThat(survivors().size()).isPositive();
  }

  private static EquivalentMutants survivors() throws IOException {
    List<ScriptMutant> all = new ArrayList<>();
    Set<String> scripts = new HashSet<>();
    for (MutantTarget mutantTarget : MutantTarget.values()) {
      List<ScriptMutant> mutants = mutantTarget.mutants(".*");
      mutants.removeIf(mutant -> scripts.contains(mutant.resource()));
      mutants.forEach(mutant -> scripts.add(mutant.resource()));
      all.addAll(mutants);
    }
    return EquivalentMutants.in(LISTS, all, FOLDER);
  }

  @Test
  @Timeout(36_000)
  @EnabledIfSystemProperty(named = "mortise.mutants", matches = ".+")
  void givenAllChanges_thenWhatBecomesOfEachIsWrittenDown() throws IOException {
    int most = Integer.getInteger("mortise.mutants.steps", 2);
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    EquivalentMutants equivalentMutants = survivors();
    for (MutantTarget mutantTarget : MutantTarget.values()) {
      List<ScriptMutant> mutants = mutantTarget.mutants(System.getProperty("mortise.mutants"));
      mutants.removeIf(equivalentMutants::has);
      List<TestStage> testStages =
          mutantTarget.testStages.subList(0, Math.min(most, mutantTarget.testStages.size()));
      Duration left = Duration.ofNanos(end - System.nanoTime());
      System.setProperty(ONLY, mutantTarget.database());
      int yet = log.hunt(hunt, mutants, testStages, EACH, left, () -> {});
      System.out.println(mutantTarget + ": " + yet + " not looked at yet");
    }
  }
}
