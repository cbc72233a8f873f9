package io.mortise.sql;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Sets the parameters of a statement one after the other. */
final class PositionalBinder {
  private final PreparedStatement statement;
  private int next = 1;

  PositionalBinder(PreparedStatement statement) {
    this.statement = statement;
  }

  /** A string, a number, bytes, a date: whatever the driver takes. */
  PositionalBinder add(@Nullable Object value) throws SQLException {
    if (value == null) {
      statement.setNull(next++, java.sql.Types.NULL);
    } else if (value instanceof byte[] bytes) {
      statement.setBytes(next++, bytes);
    } else {
      statement.setObject(next++, value);
    }
    return this;
  }

  PositionalBinder addAll(Collection<? extends @Nullable Object> values) throws SQLException {
    for (Object value : values) {
      add(value);
    }
    return this;
  }
}
