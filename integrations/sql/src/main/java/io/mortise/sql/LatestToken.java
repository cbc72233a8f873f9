package io.mortise.sql;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The latest token that a row has seen, and of which holder it was. */
record LatestToken(long token, String holder) {
  /** From the first two columns. */
  static LatestToken read(ResultSet row) throws SQLException {
    return new LatestToken(row.getLong(1), String.valueOf(row.getString(2)));
  }

  boolean is(FencingToken other) {
    return token == other.value() && holder.equals(other.holder());
  }

  /**
   * Called after a write that changed no row. MySQL may count changed rows only: then zero with our
   * token means success.
   *
   * @param where the row or lock that has seen it, for the message
   */
  void refuseUnless(FencingToken ours, String where) {
    if (!is(ours)) {
      throw new StaleTokenException(where, ours, token, holder);
    }
  }
}
