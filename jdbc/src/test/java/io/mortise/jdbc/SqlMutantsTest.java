package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.mutant.MutantHunt;
import io.mortise.testkit.mutant.MutantHunt.Outcome;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Each small change to a statement is noticed by the tests of the store. */
@Timeout(180)
class SqlMutantsTest {
  private static final String FOLDER = "io/mortise/jdbc/";
  private static final Duration EACH = Duration.ofMinutes(4);

  private final MutantHunt hunt =
      new MutantHunt(SqlMutantsTest.class, JdbcStore.class, Set.of(PostgresServers.class.getName()));

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

    @SuppressWarnings("ImmutableEnumChecker") // List.of
    final List<Step> more;

    /**
     * A database and its tests.
     *
     * @param more are asked about those that have survived the others, if that is wanted
     */
    Hunted(String folder, String name, String... more) {
      this.folder = folder;
      this.steps =
          List.of(
              Step.oneByOne(in(name + "DifferentialTest")), Step.together(in(name + "ContractTest")));
      this.more = List.of(Step.oneByOne(in(more)));
    }

    /** Of the statements that it uses: its own, and of the shared ones those that it has not. */
    List<ScriptMutant> mutants(String file) throws IOException {
      Path classes =
          Path.of(JdbcStore.class.getProtectionDomain().getCodeSource().getLocation().getPath());
      List<ScriptMutant> mutants = new ArrayList<>();
      for (String from : List.of(folder, "shared")) {
        try (Stream<Path> files = Files.list(classes.resolve(FOLDER + from))) {
          for (Path each : files.sorted().toList()) {
            boolean own = Files.exists(classes.resolve(FOLDER + folder).resolve(each.getFileName()));
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
    boolean again = Boolean.getBoolean("mortise.mutants.again");
    MutantLog log =
        new MutantLog(
            Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")), again);
    Duration time = Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200));
    long end = System.nanoTime() + time.toNanos();
    for (Hunted hunted : Hunted.values()) {
      List<ScriptMutant> open = log.open(hunted.mutants(System.getProperty("mortise.mutants")));
      if (open.isEmpty()) {
        continue;
      }
      List<Step> steps = new ArrayList<>(hunted.steps);
      steps.addAll(again ? hunted.more : List.of());
      Outcome unchanged = hunt.run(null, steps, EACH);
      assertThat(unchanged.killer()).as("unchanged: " + hunted).isNull();
      System.out.println(hunted + ", unchanged: " + unchanged);
      Duration left = Duration.ofNanos(end - System.nanoTime());
      int yet = log.hunt(hunt, open, steps, EACH, left, () -> {});
      System.out.println(hunted + ": " + yet + " not looked at yet");
    }
  }
}
