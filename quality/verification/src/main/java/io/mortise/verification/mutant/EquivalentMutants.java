package io.mortise.verification.mutant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Equivalent mutants: no test can kill them, as they behave like the original. Their files are for
 * people: lines that begin with {@code #} give the reason of all entries up to the next reason.
 *
 * <p>An entry has these fields, separated by tabs: script, operator, original line, changed line
 * (empty if deleted), and an index from 1 if the script has several such mutants. It has no line
 * number, so that it stays valid when other lines change.
 */
public final class EquivalentMutants {
  private final Set<String> listed = new HashSet<>();

  private record ListedMutant(
      String where, String script, String operator, String before, String after, int nth) {
    boolean fits(ScriptMutant mutant, String folder) {
      return mutant.resource().equals(folder + script)
          && mutant.operator().equals(operator)
          && mutant.before().equals(before)
          && mutant.after().equals(after);
    }
  }

  private EquivalentMutants() {}

  /**
   * Reads all lists in a folder, {@code *.tsv}.
   *
   * @param mutants all mutants of the listed scripts, in the order of each script
   * @param resources the folder of the scripts, as in {@link ScriptMutant#resource()}, with a slash
   *     at the end
   * @throws UncheckedIOException if they cannot be read
   * @throws IllegalArgumentException if an entry is malformed, lacks a reason, matches no mutant,
   *     matches several without an index, or is a duplicate; the message names all such entries
   */
  public static EquivalentMutants in(Path folder, List<ScriptMutant> mutants, String resources) {
    EquivalentMutants equivalentMutants = new EquivalentMutants();
    List<String> wrong = new ArrayList<>();
    for (ListedMutant entry : entries(folder, wrong)) {
      List<ScriptMutant> fitting =
          mutants.stream().filter(each -> entry.fits(each, resources)).toList();
      boolean told = entry.nth() > 0 ? entry.nth() <= fitting.size() : fitting.size() == 1;
      if (!told) {
        wrong.add(entry.where() + ": fits " + fitting.size() + " mutants");
      } else if (!equivalentMutants.listed.add(id(fitting.get(Math.max(0, entry.nth() - 1))))) {
        wrong.add(entry.where() + ": is listed already");
      }
    }
    if (!wrong.isEmpty()) {
      throw new IllegalArgumentException(String.join("\n", wrong));
    }
    return equivalentMutants;
  }

  private static List<ListedMutant> entries(Path folder, List<String> wrong) {
    List<ListedMutant> entries = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".tsv")).sorted().toList()) {
        boolean reason = false;
        int number = 0;
        for (String line : Files.readAllLines(file)) {
          String where = file.getFileName() + ":" + ++number;
          String[] fields = line.split("\t", -1);
          if (line.startsWith("#")) {
            reason = true;
          } else if (!reason || fields.length < 4 || fields.length > 5) {
            wrong.add(where + ": is no entry with a reason above it");
          } else {
            int nth = fields.length == 5 ? Integer.parseInt(fields[4]) : 0;
            entries.add(new ListedMutant(where, fields[0], fields[1], fields[2], fields[3], nth));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return entries;
  }

  private static String id(ScriptMutant mutant) {
    return mutant.resource() + "#" + mutant.number();
  }

  public boolean has(ScriptMutant mutant) {
    return listed.contains(id(mutant));
  }

  public int size() {
    return listed.size();
  }
}
