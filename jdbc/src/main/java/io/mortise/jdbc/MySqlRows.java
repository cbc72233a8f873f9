package io.mortise.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** MySQL's UPDATE returns no rows; its one-statement acquire gives the token as a key. */
final class MySqlRows extends Rows {
  MySqlRows(Connection connection, SqlText text, String namespace) {
    super(connection, text, namespace);
  }

  @Override
  Sql prepare(Connection connection, SqlText.Statement statement) throws SQLException {
    return statement.name().equals("acquire_fast")
        ? Sql.withKey(connection, statement)
        : super.prepare(connection, statement);
  }

  @Override
  @Nullable Block block(Sql acquire, int tokens) throws SQLException {
    return acquire.update() == 0 ? null : new Block(acquire.key(), tokens);
  }
}
