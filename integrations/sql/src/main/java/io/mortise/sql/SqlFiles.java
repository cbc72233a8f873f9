package io.mortise.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one dialect: its own file where it differs, else the shared one. {@code
 * {now_us}} in a file is the dialect's expression for the database clock; other names in braces are
 * filled in by the caller.
 */
final class SqlFiles {
  static final String DEFAULT_PREFIX = "mortise_";

  /** Letters, digits and underscores; or quoted, as the database demands. */
  private static final Pattern IDENTIFIER =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*|\"[^\"\\p{Cntrl}]+\"|`[^`\\p{Cntrl}]+`");

  private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*--.*$");

  /** For statements on the user's tables, which have no prefix. */
  private static final Map<HelperDialect, SqlFiles> WITHOUT_TABLES =
      new EnumMap<>(HelperDialect.class);

  static {
    for (HelperDialect dialect : HelperDialect.values()) {
      WITHOUT_TABLES.put(dialect, new SqlFiles(dialect, DEFAULT_PREFIX));
    }
  }

  private final HelperDialect dialect;
  private final String prefix;
  private final Map<String, String> statements = new ConcurrentHashMap<>();

  SqlFiles(HelperDialect dialect, String prefix) {
    if (!prefix.matches("[A-Za-z][A-Za-z0-9_]{0,29}")) {
      throw new IllegalArgumentException(
          "Table prefix '%s' is not 1 to 30 letters, digits and underscores, with a letter first."
              .formatted(prefix));
    }
    this.dialect = dialect;
    this.prefix = prefix;
  }

  /** The statements on users' tables, for the database of a connection. */
  static SqlFiles of(Connection connection) throws SQLException {
    return Objects.requireNonNull(WITHOUT_TABLES.get(HelperDialect.of(connection)));
  }

  HelperDialect dialect() {
    return dialect;
  }

  String prefix() {
    return prefix;
  }

  /** A statement, ready to be prepared. */
  String statement(String name) {
    return statements.computeIfAbsent(name, this::load);
  }

  /** A statement with the names in braces filled in. */
  String statement(String name, Map<String, String> parts) {
    String sql = statement(name);
    for (Map.Entry<String, String> part : parts.entrySet()) {
      sql = sql.replace("{" + part.getKey() + "}", part.getValue());
    }
    return sql;
  }

  PositionalStatement statement(Connection connection, String name) {
    return new PositionalStatement(connection, statement(name));
  }

  PositionalStatement statement(Connection connection, String name, Map<String, String> parts) {
    return new PositionalStatement(connection, statement(name, parts));
  }

  /** The statements that make the tables, in order. */
  List<String> schema() {
    String file = "/META-INF/mortise/" + dialect.folder() + "/helpers.sql";
    String text = read(file);
    if (text == null) {
      throw new IllegalStateException("The jar lacks its resource " + file + ".");
    }
    List<String> ddl = new ArrayList<>();
    for (String part : text.split(";", -1)) {
      if (!part.isBlank()) {
        ddl.add(part.strip());
      }
    }
    return ddl;
  }

  private String load(String name) {
    String sql = file(name);
    return sql.contains("{now_us}") ? sql.replace("{now_us}", file("now_us")) : sql;
  }

  private String file(String name) {
    for (String folder : List.of(dialect.folder(), "shared")) {
      String text = read(folder + "/" + name + ".sql");
      if (text != null) {
        return text.strip();
      }
    }
    throw new IllegalStateException(
        "The jar lacks its resource " + dialect.folder() + "/" + name + ".sql.");
  }

  private @Nullable String read(String resource) {
    try (InputStream in = SqlFiles.class.getResourceAsStream(resource)) {
      if (in == null) {
        return null;
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return COMMENT.matcher(text).replaceAll("").replace(DEFAULT_PREFIX, prefix);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Checks the name of a user's table, perhaps with its schema.
   *
   * @throws IllegalArgumentException if it could be anything but a name
   */
  static String table(String name) {
    for (String part : name.split("\\.", -1)) {
      column(part);
    }
    return name;
  }

  /**
   * Checks the name of a user's column.
   *
   * @throws IllegalArgumentException if it could be anything but a name
   */
  static String column(String name) {
    if (!IDENTIFIER.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'%s' is no name of a table or column. Expected letters, digits and underscores, or a quoted name."
              .formatted(name));
    }
    return name;
  }

  /** {@code a = ? AND b = ?}, or another link. */
  static String equalities(Set<String> columns, String link) {
    List<String> parts = new ArrayList<>();
    for (String column : columns) {
      parts.add(column + " = ?");
    }
    return String.join(link, parts);
  }
}
