package io.mortise.testkit.mutant;

import io.mortise.Beta;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/**
 * What has become of which mutant, in a file with one line each, so that a long hunt can be
 * interrupted and taken up again. For one thread.
 */
@Beta
public final class MutantLog {
  private final Path file;
  private final Set<String> done = new HashSet<>();

  /** Reads what the file has, if it is there. */
  public MutantLog(Path file) {
    this.file = file;
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      if (Files.exists(file)) {
        Files.readAllLines(file).forEach(line -> done.add(line.substring(line.indexOf('\t') + 1)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Hunts those that are not in the file yet, in an order that is mixed but always the same, until
   * the time is over. Each line says {@code killed}, {@code survived} or {@code timeout}, and which
   * mutant.
   *
   * @param tests by which it may be killed
   * @param repair what to do after a run that took too long, and may have left a server stuck
   * @return how many there are yet
   */
  public int hunt(
      MutantHunt hunt,
      List<ScriptMutant> mutants,
      List<String> tests,
      Duration each,
      Duration time,
      Runnable repair) {
    long end = System.nanoTime() + time.toNanos();
    List<ScriptMutant> open = new ArrayList<>(mutants);
    open.removeIf(mutant -> done.contains(mutant.key()));
    Collections.shuffle(open, new Random(1));
    int left = open.size();
    for (ScriptMutant mutant : open) {
      if (System.nanoTime() > end) {
        break;
      }
      MutantHunt.Outcome outcome = hunt.run(mutant, tests, each);
      boolean late = outcome.killer() != null && outcome.killer().startsWith("took more");
      String word = outcome.survived() ? "survived" : late ? "timeout" : "killed";
      if (late) {
        repair.run();
      }
      note(word, mutant);
      left--;
      System.out.printf(
          Locale.ROOT,
          "%s after %d tests, %.1f s, by %s: %s%n",
          word,
          outcome.tests(),
          outcome.took().toMillis() / 1000.0,
          outcome.killer(),
          mutant);
    }
    return left;
  }

  private void note(String word, ScriptMutant mutant) {
    done.add(mutant.key());
    try {
      Files.writeString(
          file,
          word + "\t" + mutant.key() + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
