package io.mortise.jdbc;

import io.mortise.spi.Request;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * MySQL's UPDATE returns no rows; its one-statement acquire gives the token as a key. What several
 * requests have become of is read back by a second statement.
 */
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

  @Override
  Map<String, Block> together(List<Request> requests) throws SQLException {
    List<Request> sorted = new ArrayList<>();
    for (Request request : requests) {
      if (!(request instanceof Request.Acquire acquire) || acquire.terms().atMost() == null) {
        sorted.add(request);
      }
    }
    sorted.sort(Comparator.comparing(Request::name));
    Map<String, Block> served = new HashMap<>();
    if (sorted.isEmpty()) {
      return served;
    }
    String json = json(sorted);
    of("together").set("requests", json).update();
    try (ResultSet row = of("together_read").set("requests", json).query()) {
      while (row.next()) {
        served.put(row.getString(1), new Block(row.getLong(2), row.getInt(3)));
      }
    }
    return served;
  }

  /** As together.sql says. */
  private static String json(List<Request> requests) {
    StringBuilder json = new StringBuilder("[");
    for (Request request : requests) {
      json.append(json.length() == 1 ? "{" : ",{");
      text(json, "n", request.name().value());
      text(json.append(','), "a", request.attempt().encoded());
      if (request instanceof Request.Acquire acquire) {
        text(json.append(','), "s", request.attempt().session().value());
        text(json.append(','), "b", acquire.terms().label());
        json.append(",\"c\":").append(acquire.mode().capacity());
        json.append(",\"t\":").append(acquire.tokens());
        json.append(",\"f\":").append(acquire.tokenFloor());
        json.append(",\"l\":").append(WaitRow.length(acquire.terms().atLeast()));
      } else {
        json.append(",\"c\":0");
      }
      json.append('}');
    }
    return json.append(']').toString();
  }

  /** Neither names nor labels have control characters. */
  private static void text(StringBuilder json, String key, String value) {
    json.append('"').append(key).append("\":\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\');
      }
      json.append(c);
    }
    json.append('"');
  }
}
