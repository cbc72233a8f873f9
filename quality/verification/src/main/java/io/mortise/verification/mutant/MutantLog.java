package io.mortise.verification.mutant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * The outcomes of mutants, in a file with one line each, so that a long hunt can be interrupted and
 * resumed. Of several lines about one mutant, the last counts. For one thread.
 *
 * <p>{@code -Dmortise.mutants.parts=N -Dmortise.mutants.part=K} hunts every N-th only, from the
 * K-th on, counted from 0: several processes share a hunt, or it is a sample.
 */
public final class MutantLog {
  private static final String SURVIVED = "survived ";

  private static final int PARTS = Integer.getInteger("mortise.mutants.parts", 1);
  private static final int PART = Integer.getInteger("mortise.mutants.part", 0);

  private final Path file;

  /** The number of stages that each mutant has survived; all of them if it was killed. */
  private final Map<String, Integer> done = new HashMap<>();

  /** Reads the file if it exists. */
  public MutantLog(Path file) {
    this.file = file;
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      if (Files.exists(file)) {
        Files.readAllLines(file).forEach(this::read);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(String line) {
    String[] fields = line.split("\t", 4);
    if (fields.length == 4) {
      String word = fields[0];
      done.put(
          fields[3],
          word.startsWith(SURVIVED)
              ? Integer.parseInt(word.substring(SURVIVED.length()))
              : Integer.MAX_VALUE);
    }
  }

  private int survived(ScriptMutant mutant) {
    return done.getOrDefault(mutant.key(), 0);
  }

  /**
   * Hunts mutants neither killed nor known to survive all stages, in a shuffled but reproducible
   * order, until the time is over. Each line has the outcome ({@code killed}, hung, or {@code
   * survived} with the number of stages), the seconds, the test and the mutant.
   *
   * @param testStages the stages that may kill a mutant; survived ones are not repeated
   * @param tidy cleans up after each mutant, which may have left a server stuck
   * @return the number of remaining mutants
   * @throws IllegalStateException if a test fails on the original
   */
  public int hunt(
      MutationTestRunner hunt,
      List<ScriptMutant> mutants,
      List<MutationTestRunner.TestStage> testStages,
      Duration each,
      Duration time,
      Runnable tidy) {
    long end = System.nanoTime() + time.toNanos();
    List<ScriptMutant> open = new ArrayList<>(mutants);
    open.removeIf(
        mutant -> mutant.number() % PARTS != PART || survived(mutant) >= testStages.size());
    if (open.isEmpty()) {
      return 0;
    }
    int least = open.stream().mapToInt(this::survived).min().orElse(0);
    MutationTestRunner.Outcome unchanged =
        hunt.run(null, testStages.subList(least, testStages.size()), each);
    if (!unchanged.survived()) {
      throw new IllegalStateException("Nothing is changed, and yet: " + unchanged);
    }
    System.out.println("unchanged: " + unchanged);
    Collections.shuffle(open, new Random(1));
    int left = open.size();
    for (ScriptMutant mutant : open) {
      if (System.nanoTime() > end) {
        break;
      }
      tidy.run();
      MutationTestRunner.Outcome outcome =
          hunt.run(mutant, testStages.subList(survived(mutant), testStages.size()), each);
      String word =
          outcome.survived() ? SURVIVED + testStages.size() : outcome.hung() ? "hung" : "killed";
      String killer = outcome.killer() == null ? "-" : outcome.killer().replace('\t', ' ');
      String seconds = String.format(Locale.ROOT, "%.1f", outcome.took().toMillis() / 1000.0);
      note(String.join("\t", word, seconds, killer, mutant.key()));
      left--;
      System.out.printf(
          "%s after %s tests, %s s, by %s: %s%n", word, outcome.tests(), seconds, killer, mutant);
    }
    tidy.run();
    return left;
  }

  private void note(String line) {
    read(line);
    try {
      Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
