package io.mortise.sql;

/**
 * What to open.
 *
 * @param prefix of the tables' names: 1 to 30 letters, digits and underscores, a letter first
 * @param createTables whether missing tables are made; without it they are an error
 */
public record SqlHelperOptions(String prefix, boolean createTables) {
  /** Tables {@code mortise_…}, made if they are missing. */
  public static final SqlHelperOptions DEFAULTS =
      new SqlHelperOptions(SqlFiles.DEFAULT_PREFIX, true);

  /** See {@link #prefix()}. */
  public SqlHelperOptions withPrefix(String value) {
    return new SqlHelperOptions(value, createTables);
  }

  /** See {@link #createTables()}. */
  public SqlHelperOptions withCreateTables(boolean value) {
    return new SqlHelperOptions(prefix, value);
  }
}
