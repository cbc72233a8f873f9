package io.mortise.jdbc.table;

import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Serves all requests that travel together, and writes nothing. */
public final class ServingRepository extends LockRepository {
  public ServingRepository(Connection connection) {
    super(connection, new SqlText("h2", SqlText.DEFAULT_PREFIX), "default");
  }

  @Override
  Map<String, TokenRange> together(List<BatchedRequest> batchedRequests) {
    Map<String, TokenRange> all = new HashMap<>();
    batchedRequests.forEach(
        asked -> all.put(asked.request().attempt().encoded(), new TokenRange(1, 1)));
    return all;
  }
}
