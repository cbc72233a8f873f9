package io.mortise.guarantee;

import io.mortise.annotation.Beta;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.Stream;

/**
 * The guarantees of exclusive locks, by store and mode × fault. Immutable.
 *
 * <p>It holds as long as clocks <em>run</em> at about the same rate (within 0.1 %); they need not
 * show the same time. For a resource that does not compare tokens, {@link GuaranteeLevel#DETECTED}
 * means the same as {@link GuaranteeLevel#UNNOTICED}; so it does for shared holds and permits,
 * which overlap and hence have no fencing tokens.
 */
@Beta
public final class GuaranteeTable {
  private static final String RESOURCE = "/META-INF/mortise/guarantees.ini";

  private final Map<String, Fault> faults = new LinkedHashMap<>();
  private final Map<String, StoreMode> modes = new LinkedHashMap<>();
  private final Map<String, Map<String, String>> suites = new LinkedHashMap<>();
  private final Map<String, Map<String, Guarantee>> cells = new LinkedHashMap<>();

  private GuaranteeTable() {}

  /** Loads the table of this release from a file of the jar. */
  public static GuaranteeTable load() {
    try (InputStream in = GuaranteeTable.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("The resource '" + RESOURCE + "' is missing.");
      }
      return parse(
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)).lines().toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Parses a table.
   *
   * @throws IllegalStateException if the lines are not a table, or a cell is missing
   */
  static GuaranteeTable parse(List<String> lines) {
    GuaranteeTable table = new GuaranteeTable();
    for (IniSection section : IniSection.read(lines)) {
      switch (section.kind()) {
        case "fault" -> table.addFault(section);
        case "mode" -> table.addMode(section);
        case "cell" -> table.addCells(section);
        default ->
            throw new IllegalStateException("A section " + section.header() + " is unknown.");
      }
    }
    table.requireComplete();
    return table;
  }

  private void addFault(IniSection section) {
    String id = section.header().get(1);
    faults.put(id, new Fault(id, section.one("title"), section.one("means")));
  }

  private void addMode(IniSection section) {
    String id = section.header().get(1);
    modes.put(id, new StoreMode(id, section.one("title")));
    Map<String, String> classes = new LinkedHashMap<>();
    for (String key : section.values().keySet()) {
      if (!key.equals("title")) {
        classes.put(key, section.one(key));
      }
    }
    suites.put(id, classes);
  }

  /** Adds cells. With an answer a section replaces the cell; else it adds tests and a reason. */
  private void addCells(IniSection section) {
    for (String fault : section.header().get(2).split(",", -1)) {
      addCells(section, section.header().get(1).split(",", -1), fault(fault));
    }
  }

  private void addCells(IniSection section, String[] patterns, Fault fault) {
    boolean used = false;
    for (StoreMode mode : modes.values()) {
      if (Stream.of(patterns).noneMatch(each -> matches(each, mode.id()))) {
        continue;
      }
      used = true;
      Map<String, Guarantee> row =
          cells.computeIfAbsent(mode.id(), unused -> new LinkedHashMap<>());
      Guarantee before = section.has("answer") ? null : row.get(fault.id());
      if (before == null && !section.has("answer")) {
        throw new IllegalStateException(
            "Nothing stands where " + section.header() + " adds tests.");
      }
      List<String> tests = new ArrayList<>(before == null ? List.of() : before.tests());
      section.all("test").stream().flatMap(test -> expand(mode, test)).forEach(tests::add);
      row.put(
          fault.id(),
          before == null
              ? new Guarantee(
                  mode, fault, answer(section.one("answer")), section.one("because"), tests)
              : new Guarantee(
                  mode, fault, before.answer(), because(before.because(), section), tests));
    }
    if (!used) {
      throw new IllegalStateException(
          "No mode is like " + section.header().get(1) + ". Declare modes first.");
    }
  }

  private static String because(String before, IniSection section) {
    return section.has("because") ? before + " " + section.one("because") : before;
  }

  private static boolean matches(String pattern, String mode) {
    return pattern.endsWith("*")
        ? mode.startsWith(pattern.substring(0, pattern.length() - 1))
        : pattern.equals(mode);
  }

  private static GuaranteeLevel answer(String word) {
    return GuaranteeLevel.valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** Replaces {@code contract>Suite#method} by the class that runs the contract in this mode. */
  private Stream<String> expand(StoreMode mode, String test) {
    int arrow = test.indexOf('>');
    if (arrow < 0 || test.indexOf(':') >= 0) {
      return Stream.of(test);
    }
    String runner = suites.getOrDefault(mode.id(), Map.of()).get(test.substring(0, arrow));
    return runner == null ? Stream.empty() : Stream.of(runner + test.substring(arrow));
  }

  private void requireComplete() {
    for (StoreMode mode : modes.values()) {
      for (Fault fault : faults.values()) {
        if (!cells.getOrDefault(mode.id(), Map.of()).containsKey(fault.id())) {
          throw new IllegalStateException(
              "Nothing is said about " + fault.id() + " of " + mode.id() + ".");
        }
      }
    }
  }

  /** The columns. */
  public List<Fault> faults() {
    return List.copyOf(faults.values());
  }

  /** The rows; those of a store are adjacent. */
  public List<StoreMode> modes() {
    return List.copyOf(modes.values());
  }

  /**
   * A column.
   *
   * @throws NoSuchElementException if there is none with that id
   */
  public Fault fault(String id) {
    Fault fault = faults.get(id);
    if (fault == null) {
      throw new NoSuchElementException("The guarantee table has no fault '" + id + "'.");
    }
    return fault;
  }

  /**
   * A row.
   *
   * @throws NoSuchElementException if there is none with that id
   */
  public StoreMode mode(String id) {
    StoreMode mode = modes.get(id);
    if (mode == null) {
      throw new NoSuchElementException("The guarantee table has no store and mode '" + id + "'.");
    }
    return mode;
  }

  /**
   * The cells of a row, in the order of {@link #faults()}.
   *
   * @throws NoSuchElementException if there is no such mode
   */
  public List<Guarantee> row(String mode) {
    Map<String, Guarantee> row = cells.getOrDefault(mode(mode).id(), Map.of());
    List<Guarantee> cellsInOrder = new ArrayList<>();
    faults.keySet().forEach(fault -> cellsInOrder.add(cell(row, fault)));
    return List.copyOf(cellsInOrder);
  }

  /**
   * One cell.
   *
   * @throws NoSuchElementException if there is no such mode or fault
   */
  public Guarantee cell(String mode, String fault) {
    return cell(cells.getOrDefault(mode(mode).id(), Map.of()), fault(fault).id());
  }

  private static Guarantee cell(Map<String, Guarantee> row, String fault) {
    Guarantee cell = row.get(fault);
    if (cell == null) {
      throw new NoSuchElementException("Nothing is said about fault '" + fault + "'.");
    }
    return cell;
  }
}
