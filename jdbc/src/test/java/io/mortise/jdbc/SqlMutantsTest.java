package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.testkit.mutant.MutantHunt;
import io.mortise.testkit.mutant.MutantHunt.Outcome;
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

/** Each small change to a statement is noticed by the tests of the store, on SQLite. */
@Timeout(180)
class SqlMutantsTest {
  private static final String FOLDER = "io/mortise/jdbc/";
  private static final List<String> TESTS =
      List.of("io.mortise.jdbc.SqliteContractTest", "io.mortise.jdbc.SqliteDifferentialTest");
  private static final Duration EACH = Duration.ofMinutes(2);

  private final MutantHunt hunt = new MutantHunt(SqlMutantsTest.class, JdbcStore.class, Set.of());

  /** Of the statements that SQLite uses. */
  private static List<ScriptMutant> mutants(String file) throws IOException {
    Path classes =
        Path.of(JdbcStore.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    List<ScriptMutant> mutants = new ArrayList<>();
    for (String folder : List.of("sqlite", "shared")) {
      try (Stream<Path> files = Files.list(classes.resolve(FOLDER + folder))) {
        for (Path each : files.sorted().toList()) {
          String name = folder + "/" + each.getFileName();
          boolean used =
              folder.equals("sqlite")
                  || !Files.exists(classes.resolve(FOLDER + "sqlite/" + each.getFileName()));
          if (used && name.matches(file)) {
            mutants.addAll(MutantOperators.SQL.mutants(FOLDER + name, Files.readString(each)));
          }
        }
      }
    }
    return mutants;
  }

  @Test
  @Timeout(36_000)
  @EnabledIfSystemProperty(named = "mortise.mutants", matches = ".+")
  void givenAllChanges_thenWhatBecomesOfEachIsWrittenDown() throws IOException {
    MutantLog log =
        new MutantLog(Path.of(System.getProperty("mortise.mutants.log", "target/mutants.tsv")));
    Outcome unchanged = hunt.run(null, TESTS, EACH);
    assertThat(unchanged.killer()).as("unchanged").isNull();
    System.out.println("unchanged: " + unchanged);
    int open =
        log.hunt(
            hunt,
            mutants(System.getProperty("mortise.mutants")),
            TESTS,
            EACH,
            Duration.ofSeconds(Long.getLong("mortise.mutants.seconds", 7_200)),
            () -> {});
    System.out.println(open + " not looked at yet");
  }
}
