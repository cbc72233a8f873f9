package io.mortise.jdbc;

import io.mortise.testkit.mutant.MutantHunt;
import io.mortise.testkit.mutant.MutantHunt.Step;
import io.mortise.testkit.mutant.MutantLog;
import io.mortise.testkit.mutant.MutantOperators;
import io.mortise.testkit.mutant.ScriptMutant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
  private static final Duration EACH = Duration.ofMinutes(4);

  private final MutantHunt hunt =
      new MutantHunt(
          SqlMutantsTest.class, JdbcStore.class, Set.of(PostgresServers.class.getName()));

  /** A run of the differential test that fails is all that is wanted, not the shortest. */
  @BeforeAll
  static void shortenNothing() {
    System.setProperty(SHRINKING, "0");
  }

  @AfterAll
  static void shortenAgain() {
    System.clearProperty(SHRINKING);
  }

  /** On which databases, and which tests are to notice changes of their statements. */
  private enum Hunted {
    SQLITE("sqlite", "Sqlite", "SqliteStoreTest", "SqliteClientTest", "SqliteProcessesTest"),
    POSTGRESQL(
        "postgresql",
        "Postgres18",
        "Postgres18ClientTest",
        "PostgresFaultTest",
        "PostgresClockTest",
        "PostgresCheckTest",
        "PgBouncerTest",
        "NewsWatchTest");

    final String folder;

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<Step> steps;

    /**
     * A database and its tests.
     *
     * @param more in a last step
     */
    Hunted(String folder, String name, String... more) {
      this.folder = folder;
      this.steps =
          List.of(
              Step.oneByOne(in(name + "DifferentialTest")),
              Step.together(in(name + "ContractTest")),
              Step.oneByOne(in(more)));
    }

    /** Of the statements that it uses: its own, and of the shared ones those that it has not. */
    List<ScriptMutant> mutants(String file) throws IOException {
      Path classes =
          Path.of(JdbcStore.class.getProtectionDomain().getCodeSource().getLocation().getPath());
      List<ScriptMutant> mutants = new ArrayList<>();
      for (String from : List.of(folder, "shared")) {
        try (Stream<Path> files = Files.list(classes.resolve(FOLDER + from))) {
          for (Path each : files.sorted().toList()) {
            boolean own =
                Files.exists(classes.resolve(FOLDER + folder).resolve(each.getFileName()));
            String name = from + "/" + each.getFileName();
            if (own == from.equals(folder) && (folder + ":" + name).matches(file)) {
              mutants.addAll(MutantOperators.SQL.mutants(FOLDER + name, Files.readString(each)));
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

  @Test
  @Timeout(36_000)
  @EnabledIfSystemProperty(named = "mortise.mutants", matches = ".+")
  void givenAllChanges_thenWhatBecomesOfEachIsWrittenDown() throws IOException {
    int most = Integer.getInteger("mortise.mutants.steps", 2);
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    for (Hunted hunted : Hunted.values()) {
      List<ScriptMutant> mutants = hunted.mutants(System.getProperty("mortise.mutants"));
      List<Step> steps = hunted.steps.subList(0, Math.min(most, hunted.steps.size()));
      Duration left = Duration.ofNanos(end - System.nanoTime());
      int yet = log.hunt(hunt, mutants, steps, EACH, left, () -> {});
      System.out.println(hunted + ": " + yet + " not looked at yet");
    }
  }
}
