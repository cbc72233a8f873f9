package io.mortise.sql;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Each small change to a statement is noticed by the tests of the helpers. */
@Timeout(180)
class HelperMutantsTest {
  private static final String FOLDER = "io/mortise/sql/";

  /** On which database the tests run. */
  private static final String ONLY = "mortise.database";

  private static final Duration EACH = Duration.ofMinutes(4);
  private static final Path LISTS = Path.of("src/test/resources/io/mortise/sql/mutants");

  /** Locks of a session are those of the whole server, so one test runs at a time. */
  private static final TestStage TESTS =
      TestStage.oneByOne(
          Stream.of(
                  "HelperStatementsTest",
                  "FencedUpdateTest",
                  "SqlFenceTest",
                  "TransactionOnceTest",
                  "TransactionLocksTest",
                  "SessionLocksTest",
                  "ExamplesTest")
              .map(test -> "io.mortise.sql." + test)
              .toArray(String[]::new));

  private final MutationTestRunner hunt =
      new MutationTestRunner(
          HelperMutantsTest.class, SqlHelpers.class, Set.of(TestServers.class.getName()));

  @AfterAll
  static void runOnAllDatabasesAgain() {
    System.clearProperty(ONLY);
  }

  /** Of the statements that a database uses: its own, and the shared ones that it does not have. */
  private static List<ScriptMutant> mutants(HelperDialect dialect, String file) throws IOException {
    Path classes =
        Path.of(SqlHelpers.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    List<ScriptMutant> mutants = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (String folder : List.of(dialect.folder(), "shared")) {
      try (Stream<Path> files = Files.list(classes.resolve(FOLDER + folder))) {
        for (Path each : files.filter(Files::isRegularFile).sorted().toList()) {
          String name = folder + "/" + each.getFileName();
          if (seen.add(each.getFileName().toString())
              && (dialect.folder() + ":" + name).matches(file)) {
            mutants.addAll(MutationOperators.SQL.mutants(FOLDER + name, Files.readString(each)));
          }
        }
      }
    }
    return mutants;
  }

  /** Each of {@code mutants/*.tsv} fits one mutant that there is, and has a reason. */
  @Test
  void givenListOfSurvivors_thenEachIsAMutant() throws IOException {
    assertThat(survivors().size()).isPositive();
  }

  private static EquivalentMutants survivors() throws IOException {
    List<ScriptMutant> all = new ArrayList<>();
    Set<String> scripts = new HashSet<>();
    for (HelperDialect dialect : HelperDialect.values()) {
      List<ScriptMutant> mutants = mutants(dialect, ".*");
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
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    EquivalentMutants equivalentMutants = survivors();
    for (HelperDialect dialect : HelperDialect.values()) {
      List<ScriptMutant> mutants = mutants(dialect, System.getProperty("mortise.mutants"));
      mutants.removeIf(equivalentMutants::has);
      Duration left = Duration.ofNanos(end - System.nanoTime());
      System.setProperty(ONLY, dialect.folder());
      int yet = log.hunt(hunt, mutants, List.of(TESTS), EACH, left, () -> {});
      System.out.println(dialect + ": " + yet + " not looked at yet");
    }
  }
}
