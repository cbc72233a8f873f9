package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables on MySQL and MariaDB, whose UPDATE returns no rows: it gives the token as a key. On
 * MySQL a second statement reads the outcomes of a batch; MariaDB's insert returns them. On MariaDB
 * a step of several statements is one compound statement, which the server prepares; MySQL parses
 * the text anew each time.
 */
final class MySqlLockRepository extends PrefetchingLockRepository {
  /** Tells MariaDB's driver that the server cannot prepare the text; MySQL's sees it by itself. */
  private static final SqlText.MultiStatementFormat TEXT =
      new SqlText.MultiStatementFormat("/*client prepare*/", "");

  /** MariaDB's, from 10.6.2 on one that can be prepared. */
  private static final SqlText.MultiStatementFormat COMPOUND =
      new SqlText.MultiStatementFormat("BEGIN NOT ATOMIC\n", ";\nEND");

  /** Gives its time as a key, the first token of all that it takes. */
  private static final String KNOWN = "together_known";

  /** The code for users without the right to write. */
  private static final int READ_ONLY = 1290;

  private static final Logger log = LoggerFactory.getLogger(MySqlLockRepository.class);

  private final SqlText.MultiStatementFormat multiStatementFormat;
  private final boolean returning;
  private @Nullable Boolean hasConnectionLocks;

  /**
   * @param takesSeveral whether the connection takes several statements in one text
   * @param multiStatementFormat how, if so
   */
  private MySqlLockRepository(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean returning,
      boolean takesSeveral,
      SqlText.MultiStatementFormat multiStatementFormat) {
    super(connection, text, namespace, isLocal, takesSeveral, multiStatementFormat);
    this.multiStatementFormat = multiStatementFormat;
    this.returning = returning;
  }

  /**
   * The repository of a connection, which is asked what it takes.
   *
   * @param isLocal whether a session is of this process
   * @param returning whether an insert can return rows
   */
  static MySqlLockRepository of(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean returning)
      throws SQLException {
    return new MySqlLockRepository(
        connection,
        text,
        namespace,
        isLocal,
        returning,
        takes(connection, TEXT.one("SELECT 1; SELECT 2")),
        returning && takes(connection, COMPOUND.one("SELECT 1")) ? COMPOUND : TEXT);
  }

  /**
   * Whether a text can be run as one. Several statements can on connections that we make
   * (allowMultiQueries); of one that we are given nobody knows. Whether the server can prepare it,
   * is asked too.
   */
  private static boolean takes(Connection connection, String several) throws SQLException {
    SqlText.SqlStatement text = new SqlText.SqlStatement("takes", several, List.of());
    try (NamedStatement statement = new NamedStatement(connection, text)) {
      statement.run((result, rows) -> {});
      return true;
    } catch (SQLException e) {
      if (connection.isClosed()) {
        throw e;
      }
      log.debug("Not run as one: {}", several, e);
      return false;
    }
  }

  @Override
  NamedStatement prepare(Connection connection, SqlText.SqlStatement sqlStatement)
      throws SQLException {
    if (sqlStatement.name().startsWith(CONTENDED_READ)) {
      return super.prepare(connection, opening(sqlStatement));
    }
    return switch (sqlStatement.name()) {
      case "acquire_fast", "acquire_first" -> NamedStatement.withKey(connection, sqlStatement);
      case "begin" -> super.prepare(connection, opening(sqlStatement));
      case "hand_off", "queue_up" ->
          super.prepare(connection, multiStatementFormat.one(sqlStatement));
      default ->
          sqlStatement.name().startsWith(KNOWN)
              ? NamedStatement.withKey(connection, sqlStatement)
              : super.prepare(connection, sqlStatement);
    };
  }

  private SqlText.SqlStatement opening(SqlText.SqlStatement sqlStatement) {
    return multiStatementFormat.one(
        new SqlText.SqlStatement(
            sqlStatement.name(), opening() + sqlStatement.sql(), sqlStatement.parameters()));
  }

  /** The prefix of a transaction's first text, where several statements are one text. */
  private String opening() {
    return endsSilentTransactions() ? text.statement("transaction_open").sql() + ";\n" : "";
  }

  /** The suffix of its last text. */
  String closing() {
    return endsSilentTransactions() ? ";\n" + text.statement("transaction_over").sql() : "";
  }

  /** MariaDB has a setting for that; one that takes one statement at a time would pay for it. */
  private boolean endsSilentTransactions() {
    return takesSeveral() && !returning;
  }

  @Override
  @Nullable TokenRange block(NamedStatement acquire, int tokens) throws SQLException {
    return acquire.update() == 0 ? null : new TokenRange(acquire.key(), tokens);
  }

  /**
   * Servers that are written to beside others have such locks each for itself, and behind a proxy
   * another server or connection may have them: nobody could find them there.
   */
  @Override
  boolean lockConnection(String name) throws SQLException {
    if (hasConnectionLocks == null) {
      hasConnectionLocks = of("several_primaries").first(row -> true) == null;
    }
    if (!hasConnectionLocks || !of("connection_lock").set("connection", name).isOne()) {
      return false;
    }
    hasConnectionLocks = of("connection_confirm").set("connection", name).isOne();
    if (!hasConnectionLocks) {
      unlockConnection(name);
    }
    return hasConnectionLocks;
  }

  @Override
  public void ensureUnlocked(LockName name) throws SQLException {
    of("unlocked", name.value()).query().close();
  }

  @Override
  @Nullable TokenRange acquireFirst(Request.Acquire request) throws SQLException {
    return block(bind(of("acquire_first", request.name().value()), request), request.tokens());
  }

  /** Begins a transaction, and reads the clock, which its step asks for first. */
  void begin() throws SQLException {
    of("begin")
        .run(
            (result, row) -> {
              row.next();
              began(clock(row));
            });
  }

  /** A server that was demoted refuses those only who may not write there all the same. */
  @Override
  long clock(ResultSet row) throws SQLException {
    if (row.getBoolean(2)) {
      throw new SQLException("The server runs with read_only=ON", "HY000", READ_ONLY);
    }
    return super.clock(row);
  }

  @Override
  void contended(ContendedRequest contendedRequest) throws SQLException {
    if (takesSeveral()) {
      contended(contendedRequest, 0);
    }
  }

  @Override
  Map<String, TokenRange> executeBatch(List<BatchedRequest> batchedRequests) throws SQLException {
    mayBePartlyDone(false);
    List<BatchedRequest> sorted = new ArrayList<>();
    for (BatchedRequest batchedRequest : batchedRequests) {
      if (!(batchedRequest.request() instanceof Request.Acquire acquire)
          || acquire.terms().atMost() == null) {
        sorted.add(batchedRequest);
      }
    }
    sorted.sort(Comparator.comparing(batchedRequest -> batchedRequest.request().name()));
    if (sorted.isEmpty()) {
      return Map.of();
    }
    // Never one part so and the other so: the first would be done if the second fails.
    UniformBatch uniformBatch = returning ? null : UniformBatch.of(sorted);
    return uniformBatch == null ? any(json(sorted)) : serveUniform(uniformBatch, sorted);
  }

  private Map<String, TokenRange> any(String json) throws SQLException {
    Map<String, TokenRange> served = new HashMap<>();
    NamedStatement.ResultReader reader = (result, rows) -> collect(rows, served);
    if (returning) {
      of("together").set("requests", json).run(reader);
    } else if (takesSeveral()) {
      mayBePartlyDone(true);
      ParameterBinder binder = namedStatement -> namedStatement.set("requests", json);
      statementBatch().add(text.statement("together"), binder);
      statementBatch().add(text.statement("together_read"), binder);
      statementBatch().send(reader);
    } else {
      of("together").set("requests", json).update();
      mayBePartlyDone(true);
      return outcomes(json);
    }
    return served;
  }

  /** Serves uniform requests. Reads the outcomes only if a request was left out. */
  Map<String, TokenRange> serveUniform(UniformBatch batch, List<BatchedRequest> sorted)
      throws SQLException {
    NamedStatement update = of(text.statement(KNOWN, batch.length()));
    batch.bind(update);
    int changed = update.update();
    if (changed == sorted.size()) {
      return batch.allServed(update.key());
    }
    mayBePartlyDone(changed > 0);
    return outcomes(json(sorted));
  }

  private Map<String, TokenRange> outcomes(String json) throws SQLException {
    Map<String, TokenRange> served = new HashMap<>();
    of("together_read").set("requests", json).run((result, rows) -> collect(rows, served));
    return served;
  }

  private static void collect(ResultSet rows, Map<String, TokenRange> served) throws SQLException {
    while (rows.next()) {
      String attempt = rows.getString(1);
      if (attempt != null) {
        served.put(attempt, new TokenRange(rows.getLong(2), rows.getInt(3)));
      }
    }
  }

  /** As together.sql says. */
  private static String json(List<BatchedRequest> batchedRequests) {
    StringBuilder json = new StringBuilder("[");
    for (BatchedRequest batchedRequest : batchedRequests) {
      Request request = batchedRequest.request();
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
        if (batchedRequest.old() != null) {
          text(json.append(','), "o", batchedRequest.old().encoded());
        }
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
