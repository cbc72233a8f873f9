package io.mortise.jdbc.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
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
public final class SqlText {
  /** The prefix that stands in the files. */
  public static final String DEFAULT_PREFIX = "mortise_";

  /** Where the folders of the dialects are. */
  private static final String FILES = "/io/mortise/jdbc/";

  private static final String SHARED = "shared";
  private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*--.*$");
  private static final Pattern MADE = Pattern.compile("(?:TABLE|INDEX) IF NOT EXISTS (\\w+)");
  private static final Pattern PARAMETER = Pattern.compile(":([a-z_]+)(\\.\\.\\.)?");

  private final List<String> folders;
  private final String prefix;

  /** Whether parameters are numbered, so that a repeated value is bound once. */
  private final boolean numbered;

  private final Map<StatementKey, SqlStatement> statements = new ConcurrentHashMap<>();

  public SqlText(String folder, String prefix) {
    this(List.of(folder), prefix);
  }

  /**
   * @param folders of a dialect; the first that has a statement is taken
   */
  public SqlText(List<String> folders, String prefix) {
    if (!prefix.matches("[A-Za-z][A-Za-z0-9_]{0,29}")) {
      throw new IllegalArgumentException(
          "Table prefix '%s' is not 1 to 30 letters, digits and underscores, with a letter first."
              .formatted(prefix));
    }
    this.folders = new ArrayList<>(folders);
    this.folders.add(SHARED);
    this.prefix = prefix;
    this.numbered = folders.get(0).equals("sqlite");
  }

  /** A statement with question marks, and which parameter each of them stands for. */
  public record SqlStatement(String name, String sql, List<String> parameters) {}

  /** Joins several statements into one text: its prefix and suffix. */
  record MultiStatementFormat(String before, String after) {
    static final MultiStatementFormat PLAIN = new MultiStatementFormat("", "");

    String one(String statements) {
      return before + statements + after;
    }

    SqlStatement one(SqlStatement statements) {
      return new SqlStatement(statements.name(), one(statements.sql()), statements.parameters());
    }
  }

  /** A statement by its file, and how many values its lists have. */
  private record StatementKey(String name, int size) {}

  /** The name of a table with the user's prefix. */
  public String table(String name) {
    return prefix + name;
  }

  public SqlStatement statement(String name) {
    return statement(name, 1);
  }

  /**
   * A statement with lists ({@code :names...}), each of so many values; {@link
   * NamedStatement#set(String, List)} sets them.
   */
  public SqlStatement statement(String name, int size) {
    return statements.computeIfAbsent(new StatementKey(name, size), this::load);
  }

  /**
   * How long a list is to be made that has to hold so many values, the rest of it filled in. In few
   * steps, so that few statements are prepared; two thirds of it are needed at least.
   */
  static int listLength(int size) {
    int power = Integer.highestOneBit(size);
    if (power == size) {
      return size;
    }
    return size <= power + power / 2 ? power + power / 2 : 2 * power;
  }

  /** Where the statements that make the tables stand in the jar. */
  public String schemaResource() {
    return "META-INF/mortise/" + folders.get(0) + "/schema.sql";
  }

  /** The statements that make the tables, in order. */
  public List<String> schema() {
    List<String> ddl = new ArrayList<>();
    for (String part : read("/" + schemaResource()).split(";", -1)) {
      if (!part.isBlank()) {
        ddl.add(part.strip());
      }
    }
    return ddl;
  }

  /** The tables and indexes that these make. */
  public Set<String> schemaNames() {
    Set<String> names = new HashSet<>();
    Matcher made = MADE.matcher(read("/" + schemaResource()));
    while (made.find()) {
      names.add(made.group(1));
    }
    return names;
  }

  private SqlStatement load(StatementKey statementKey) {
    String name = statementKey.name();
    String file =
        folders.stream()
            .map(folder -> FILES + folder + "/" + name + ".sql")
            .filter(resource -> SqlText.class.getResource(resource) != null)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("The jar lacks " + name + ".sql."));
    Matcher parameter = PARAMETER.matcher(read(file));
    List<String> parameters = new ArrayList<>();
    String sql =
        parameter.replaceAll(
            found -> {
              if (found.group(2) != null) {
                return list(found.group(1), statementKey.size(), parameters);
              }
              int known = numbered ? parameters.indexOf(found.group(1)) : -1;
              if (known < 0) {
                known = parameters.size();
                parameters.add(found.group(1));
              }
              return numbered ? "?" + (known + 1) : "?";
            });
    String called = statementKey.size() == 1 ? name : name + " of " + statementKey.size();
    return new SqlStatement(called, sql.strip(), List.copyOf(parameters));
  }

  private String list(String name, int size, List<String> parameters) {
    List<String> marks = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      parameters.add(name);
      marks.add(numbered ? "?" + parameters.size() : "?");
    }
    return String.join(", ", marks);
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
