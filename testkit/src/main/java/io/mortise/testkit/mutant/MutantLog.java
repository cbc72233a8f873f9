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
 * interrupted and taken up again. Of several lines about one mutant, the last counts. For one
 * thread.
 */
@Beta
public final class MutantLog {
  private static final String SURVIVED = "survived";

  private final Path file;
  private final boolean again;
  private final Set<String> done = new HashSet<>();

  /**
   * Reads what the file has, if it is there.
   *
   * @param again whether those that have survived are hunted once more
   */
  public MutantLog(Path file, boolean again) {
    this.file = file;
    this.again = again;
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
    if (fields.length < 4) {
      return;
    }
    if (again && fields[0].equals(SURVIVED)) {
      done.remove(fields[3]);
    } else {
      done.add(fields[3]);
    }
  }

  /** Those that are to be hunted yet, in an order that is mixed but always the same. */
  public List<ScriptMutant> open(List<ScriptMutant> mutants) {
    List<ScriptMutant> open = new ArrayList<>(mutants);
    open.removeIf(mutant -> done.contains(mutant.key()));
    Collections.shuffle(open, new Random(1));
    return open;
  }

  /**
   * Hunts until the time is over. Each line says {@code killed}, {@code hung}, {@code survived} or,
   * the second time, {@code survived all}; after how many seconds; by which test; which mutant.
   *
   * @param steps by which a mutant may be killed
   * @param tidy what to do after each, which may have left a server stuck
   * @return how many there are yet
   */
  public int hunt(
      MutantHunt hunt,
      List<ScriptMutant> mutants,
      List<MutantHunt.Step> steps,
      Duration each,
      Duration time,
      Runnable tidy) {
    long end = System.nanoTime() + time.toNanos();
    int left = mutants.size();
    for (ScriptMutant mutant : mutants) {
      if (System.nanoTime() > end) {
        break;
      }
      MutantHunt.Outcome outcome = hunt.run(mutant, steps, each);
      tidy.run();
      String survived = again ? "survived all" : SURVIVED;
      String word = outcome.survived() ? survived : outcome.hung() ? "hung" : "killed";
      String killer = outcome.killer() == null ? "-" : outcome.killer().replace('\t', ' ');
      String seconds = String.format(Locale.ROOT, "%.1f", outcome.took().toMillis() / 1000.0);
      note(String.join("\t", word, seconds, killer, mutant.key()), mutant);
      left--;
      System.out.printf(
          "%s after %d tests, %s s, by %s: %s%n", word, outcome.tests(), seconds, killer, mutant);
    }
    return left;
  }

  private void note(String line, ScriptMutant mutant) {
    done.add(mutant.key());
    try {
      Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
