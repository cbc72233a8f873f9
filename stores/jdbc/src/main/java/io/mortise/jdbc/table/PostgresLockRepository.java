package io.mortise.jdbc.table;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The tables on PostgreSQL, which takes several statements in one flush. */
final class PostgresLockRepository extends PrefetchingLockRepository {
  private final boolean pooled;
  private final int backend;
  private final boolean mayAsk;

  /**
   * @param isLocal whether a session is of this process
   * @param pooled whether a pooler stands before the server, so that each transaction has to be set
   *     up
   * @param backend the server's process, as the driver was told when it connected; 0 if unknown
   * @param mayAsk whether this user may try the connection locks of others; the server refuses
   *     whole statements that might, so else nobody is passed over, and hand-offs go the long way
   */
  PostgresLockRepository(
      Connection connection,
      SqlText text,
      String namespace,
      Predicate<SessionId> isLocal,
      boolean pooled,
      int backend,
      boolean mayAsk) {
    super(connection, text, namespace, isLocal, true, SqlText.MultiStatementFormat.PLAIN);
    this.pooled = pooled;
    this.backend = backend;
    this.mayAsk = mayAsk;
  }

  /** Through a pooler in a transaction that is set up: a renewal must not be forgotten. */
  @Override
  @Nullable RenewalResult keep(
      String session,
      long previous,
      long beat,
      long ttl,
      boolean strictly,
      List<Long> known,
      int limit)
      throws SQLException {
    return pooled ? null : super.keep(session, previous, beat, ttl, strictly, known, limit);
  }

  /** Never through a pooler, known or not: a lock of its connection says nothing of ours. */
  @Override
  boolean lockConnection(String name) throws SQLException {
    return backend != 0
        && of("connection_lock").set("connection", name).set("backend", backend).isOne();
  }

  @Override
  Set<String> withoutConnection(Set<String> sessions) throws SQLException {
    return mayAsk ? super.withoutConnection(sessions) : Set.of();
  }

  @Override
  @Nullable TokenRange acquireFirst(Request.Acquire request) throws SQLException {
    return makeRows(List.of(new BatchedRequest(request, null, true)))
        .get(request.attempt().encoded());
  }

  private Map<String, TokenRange> makeRows(List<BatchedRequest> batchedRequests)
      throws SQLException {
    Map<String, TokenRange> done = new HashMap<>();
    NamedStatement namedStatement = of("together_new");
    bind(namedStatement, batchedRequests);
    namedStatement.run((result, rows) -> collect(rows, done));
    return done;
  }

  @Override
  void contended(ContendedRequest contendedRequest) throws SQLException {
    if (mayAsk) {
      // Behind the row that is locked; the notification follows.
      contended(contendedRequest, 1);
    }
  }

  @Override
  Map<String, TokenRange> executeBatch(List<BatchedRequest> batchedRequests) throws SQLException {
    mayBePartlyDone(false);
    if (batchedRequests.size() == 1 && batchedRequests.get(0).old() != null) {
      TokenRange taken = retake(batchedRequests.get(0));
      String attempt = batchedRequests.get(0).request().attempt().encoded();
      return taken == null ? Map.of() : Map.of(attempt, taken);
    }
    List<BatchedRequest> releases = new ArrayList<>();
    List<BatchedRequest> acquires = new ArrayList<>();
    for (BatchedRequest batchedRequest : batchedRequests) {
      (batchedRequest.request() instanceof Request.Acquire ? acquires : releases)
          .add(batchedRequest);
    }
    if (!releases.isEmpty()) {
      statementBatch()
          .add(
              text.statement("together_release"),
              namedStatement -> bindNames(namedStatement, releases));
    }
    if (!acquires.isEmpty()) {
      statementBatch()
          .add(
              text.statement("together_acquire"), namedStatement -> bind(namedStatement, acquires));
    }
    Map<String, TokenRange> done = new HashMap<>();
    statementBatch().send((result, rows) -> collect(rows, done));
    // Those that are left have no row, as far as anybody knows, or are held by others.
    acquires.removeIf(
        batchedRequest ->
            batchedRequest.old() != null
                || done.containsKey(batchedRequest.request().attempt().encoded()));
    if (!acquires.isEmpty()) {
      mayBePartlyDone(!done.isEmpty());
      done.putAll(makeRows(acquires));
    }
    return done;
  }

  /** A release and the acquire behind it, which the statement for many does less quickly. */
  private @Nullable TokenRange retake(BatchedRequest batchedRequest) throws SQLException {
    Request.Acquire acquire = (Request.Acquire) batchedRequest.request();
    NamedStatement namedStatement =
        of("exchange", acquire.name().value()).set("old", batchedRequest.releasing().encoded());
    return block(bind(namedStatement, acquire), acquire.tokens());
  }

  private static void collect(ResultSet rows, Map<String, TokenRange> done) throws SQLException {
    while (rows.next()) {
      done.put(rows.getString(1), new TokenRange(rows.getLong(2), rows.getInt(3)));
    }
  }

  private static NamedStatement bindNames(
      NamedStatement namedStatement, List<BatchedRequest> batchedRequests) throws SQLException {
    String[] names = new String[batchedRequests.size()];
    String[] attempts = new String[batchedRequests.size()];
    for (int i = 0; i < names.length; i++) {
      Request request = batchedRequests.get(i).request();
      names[i] = request.name().value();
      attempts[i] = request.attempt().encoded();
    }
    return namedStatement.set("names", "text", names).set("attempts", "text", attempts);
  }

  private static void bind(NamedStatement namedStatement, List<BatchedRequest> acquires)
      throws SQLException {
    int size = acquires.size();
    String[] sessions = new String[size];
    String[] labels = new String[size];
    @Nullable String[] olds = new @Nullable String[size];
    Long[] capacities = new Long[size];
    Long[] tokens = new Long[size];
    Long[] floors = new Long[size];
    Long[] atMosts = new Long[size];
    Long[] atLeasts = new Long[size];
    for (int i = 0; i < size; i++) {
      Request.Acquire acquire = (Request.Acquire) acquires.get(i).request();
      AttemptId old = acquires.get(i).old();
      sessions[i] = acquire.attempt().session().value();
      labels[i] = acquire.terms().label();
      olds[i] = old == null ? null : old.encoded();
      capacities[i] = (long) acquire.mode().capacity();
      tokens[i] = (long) acquire.tokens();
      floors[i] = acquire.tokenFloor();
      atMosts[i] = WaitRow.length(acquire.terms().atMost());
      atLeasts[i] = WaitRow.length(acquire.terms().atLeast());
    }
    bindNames(namedStatement, acquires)
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
