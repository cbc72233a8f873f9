package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What PostgreSQL does in one flush. */
final class PostgresRows extends AheadRows {
  PostgresRows(Connection connection, SqlText text, String namespace) {
    super(connection, text, namespace, "");
  }

  @Override
  @Nullable Block acquireFirst(Request.Acquire request) throws SQLException {
    return makeRows(List.of(new Ask(request, null))).get(request.attempt().encoded());
  }

  private Map<String, Block> makeRows(List<Ask> asks) throws SQLException {
    Map<String, Block> done = new HashMap<>();
    bind(of("together_new"), asks).run((result, rows) -> collect(rows, done));
    return done;
  }

  @Override
  @Nullable Block exchange(AttemptId old, Request.Acquire request) throws SQLException {
    Sql sql = of("exchange", request.name().value()).set("old", old.encoded());
    return block(bind(sql, request), request.tokens());
  }

  @Override
  boolean handOver(Request.Abandon request, Consumer<News> told) throws SQLException {
    Sql sql =
        of("hand_over", request.name().value())
            .set("session", request.attempt().session().value())
            .set("channels", PostgresHints.CHANNELS);
    return handOver(sql, request, 1, told);
  }

  @Override
  @Nullable Place queueUp(Request.Acquire request, Consumer<News> told) throws SQLException {
    Sql sql = of("queue_up", request.name().value()).set("channels", PostgresHints.CHANNELS);
    return queueUp(sql, request, 1, told);
  }

  @Override
  Map<String, Block> together(List<Ask> asks) throws SQLException {
    Map<String, Block> done = new HashMap<>();
    List<Ask> newcomers = new ArrayList<>();
    bind(of("together"), asks)
        .run(
            (result, rows) -> {
              if (result == 0) {
                rows.next();
                collectNewcomers(rows.getArray(2), asks, newcomers);
              } else {
                collect(rows, done);
              }
            });
    if (!newcomers.isEmpty()) {
      done.putAll(makeRows(newcomers));
    }
    return done;
  }

  private static void collect(ResultSet rows, Map<String, Block> done) throws SQLException {
    while (rows.next()) {
      done.put(rows.getString(1), new Block(rows.getLong(2), rows.getInt(3)));
    }
  }

  /** Those of the places that take a lock which nobody has ever asked for. */
  private static void collectNewcomers(@Nullable Array places, List<Ask> asks, List<Ask> newcomers)
      throws SQLException {
    if (places != null) {
      for (Long place : (Long[]) places.getArray()) {
        Ask ask = asks.get((int) (place - 1));
        if (ask.old() == null && ask.request() instanceof Request.Acquire) {
          newcomers.add(ask);
        }
      }
    }
  }

  private static Sql bind(Sql sql, List<Ask> asks) throws SQLException {
    int size = asks.size();
    String[] names = new String[size];
    String[] attempts = new String[size];
    String[] sessions = new String[size];
    String[] labels = new String[size];
    @Nullable String[] olds = new @Nullable String[size];
    Long[] capacities = new Long[size];
    Long[] tokens = new Long[size];
    Long[] floors = new Long[size];
    Long[] atMosts = new Long[size];
    Long[] atLeasts = new Long[size];
    for (int i = 0; i < size; i++) {
      Request request = asks.get(i).request();
      AttemptId old = asks.get(i).old();
      SessionId session = request.attempt().session();
      names[i] = request.name().value();
      attempts[i] = request.attempt().encoded();
      sessions[i] = session.value();
      olds[i] = old == null ? null : old.encoded();
      boolean takes = request instanceof Request.Acquire;
      Request.Acquire acquire = takes ? (Request.Acquire) request : null;
      // No lock has capacity 0: that is a release.
      capacities[i] = acquire == null ? 0L : acquire.mode().capacity();
      tokens[i] = acquire == null ? 0L : acquire.tokens();
      floors[i] = acquire == null ? 0L : acquire.tokenFloor();
      atMosts[i] = acquire == null ? -1L : WaitRow.length(acquire.terms().atMost());
      atLeasts[i] = acquire == null ? -1L : WaitRow.length(acquire.terms().atLeast());
      labels[i] = acquire == null ? "" : acquire.terms().label();
    }
    return sql.set("names", "text", names)
        .set("attempts", "text", attempts)
        .set("sessions", "text", cut(sessions, sessions[0], 1))
        .set("labels", "text", cut(labels, "", 0))
        .set("olds", "text", cut(olds, null, 0))
        .set("capacities", "int8", capacities)
        .set("token_counts", "int8", tokens)
        .set("token_floors", "int8", cut(floors, 0L, 0))
        .set("at_most_us", "int8", cut(atMosts, -1L, 0))
        .set("at_least_us", "int8", cut(atLeasts, -1L, 0));
  }

  /** The first of the values only, where all are as usual: most often they are. */
  private static <T> T[] cut(T[] values, @Nullable T usual, int kept) {
    for (T value : values) {
      if (!Objects.equals(value, usual)) {
        return values;
      }
    }
    return Arrays.copyOf(values, kept);
  }
}
