package io.mortise.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The SQL files of one dialect, with the user's table prefix; read once. A statement that the
 * dialect's folder lacks is taken from the shared one.
 */
final class SqlText {
  /** The prefix that stands in the files. */
  static final String DEFAULT_PREFIX = "mortise_";

  private static final String SHARED = "shared";
  private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*--.*$");
  private static final Pattern PARAMETER = Pattern.compile(":([a-z_]+)");

  /**
   * Whose parameters may have numbers, so that a value that stands in many places is bound once.
   */
  private static final Set<String> NUMBERED = Set.of("sqlite", "h2");

  private final List<String> folders;
  private final String prefix;
  private final boolean numbered;
  private final Map<String, Statement> statements = new ConcurrentHashMap<>();

  SqlText(String folder, String prefix) {
    this(List.of(folder), prefix);
  }

  /**
   * @param folders of a dialect; the first that has a statement is taken
   */
  SqlText(List<String> folders, String prefix) {
    if (!prefix.matches("[A-Za-z][A-Za-z0-9_]{0,29}")) {
      throw new IllegalArgumentException(
          "Table prefix '"
              + prefix
              + "' is not 1 to 30 letters, digits and underscores, with a letter first.");
    }
    this.folders = new ArrayList<>(folders);
    this.folders.add(SHARED);
    this.prefix = prefix;
    this.numbered = NUMBERED.contains(folders.get(0));
  }

  /** A statement with question marks, and which parameter each of them stands for. */
  record Statement(String name, String sql, List<String> parameters) {}

  /** The name of a table with the user's prefix. */
  String table(String name) {
    return prefix + name;
  }

  Statement statement(String name) {
    return statements.computeIfAbsent(name, this::load);
  }

  /** Where the statements that make the tables stand in the jar. */
  String schemaResource() {
    return "META-INF/mortise/" + folders.get(0) + "/schema.sql";
  }

  /** The statements that make the tables, in order. */
  List<String> schema() {
    List<String> ddl = new ArrayList<>();
    for (String part : read("/" + schemaResource()).split(";", -1)) {
      if (!part.isBlank()) {
        ddl.add(part.strip());
      }
    }
    return ddl;
  }

  private Statement load(String name) {
    String file =
        folders.stream()
            .map(folder -> folder + "/" + name + ".sql")
            .filter(resource -> SqlText.class.getResource(resource) != null)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("The jar lacks " + name + ".sql."));
    Matcher parameter = PARAMETER.matcher(read(file));
    List<String> parameters = new ArrayList<>();
    String sql =
        parameter.replaceAll(
            found -> {
              int known = numbered ? parameters.indexOf(found.group(1)) : -1;
              if (known < 0) {
                known = parameters.size();
                parameters.add(found.group(1));
              }
              return numbered ? "?" + (known + 1) : "?";
            });
    return new Statement(name, sql.strip(), List.copyOf(parameters));
  }

  private String read(String resource) {
    try (InputStream in = SqlText.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("The jar lacks its resource " + resource + ".");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return COMMENT.matcher(text).replaceAll("").replace(DEFAULT_PREFIX, prefix);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
