package io.mortise.jdbc.table;

import io.mortise.jdbc.table.LockRepository.BatchedRequest;
import io.mortise.jdbc.table.LockRepository.TokenRange;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Requests that {@code together_known} can serve: releases, and acquires that differ only in the
 * lock and the attempt, of locks that this process has used before. Most batches are of this kind.
 */
final class UniformBatch implements StatementCache.ParameterBinder {
  /** Placeholder in a list for no name or no attempt. */
  private static final String NOBODY = "";

  private final List<BatchedRequest> batchedRequests;
  private final Request.@Nullable Acquire like;

  private UniformBatch(List<BatchedRequest> batchedRequests, Request.@Nullable Acquire like) {
    this.batchedRequests = batchedRequests;
    this.like = like;
  }

  /**
   * The requests, or null if not all of them are such.
   *
   * @param batchedRequests sorted by name
   */
  static @Nullable UniformBatch of(List<BatchedRequest> batchedRequests) {
    Request.Acquire like = null;
    for (BatchedRequest batchedRequest : batchedRequests) {
      if (batchedRequest.isNew()) {
        return null;
      }
      if (batchedRequest.request() instanceof Request.Acquire acquire) {
        like = like == null ? acquire : like;
        if (acquire.tokenFloor() != 0
            || acquire.terms().atMost() != null
            || !isLike(acquire, like)) {
          return null;
        }
      }
    }
    return new UniformBatch(batchedRequests, like);
  }

  private static boolean isLike(Request.Acquire acquire, Request.Acquire other) {
    return acquire.attempt().session().equals(other.attempt().session())
        && acquire.mode().capacity() == other.mode().capacity()
        && acquire.tokens() == other.tokens()
        && acquire.terms().equals(other.terms());
  }

  /** The length of the lists; a lock that stands there twice counts once. */
  int length() {
    return SqlText.listLength(batchedRequests.size());
  }

  /**
   * The outcome of a batch whose requests were all served.
   *
   * @param token the first of each block
   */
  Map<String, TokenRange> allServed(long token) {
    Map<String, TokenRange> served = new HashMap<>();
    for (BatchedRequest batchedRequest : batchedRequests) {
      served.put(
          attempt(batchedRequest),
          batchedRequest.request() instanceof Request.Acquire acquire
              ? new TokenRange(token, acquire.tokens())
              : new TokenRange(0, 0));
    }
    return served;
  }

  @Override
  public void bind(NamedStatement namedStatement) throws SQLException {
    namedStatement
        .set("names", each(UniformBatch::name))
        .set(
            "free",
            each(
                batchedRequest ->
                    takes(batchedRequest) && batchedRequest.old() == null
                        ? name(batchedRequest)
                        : NOBODY))
        .set(
            "takers",
            each(batchedRequest -> takes(batchedRequest) ? attempt(batchedRequest) : NOBODY))
        .set("before", each(UniformBatch::old))
        .set(
            "leavers",
            each(batchedRequest -> takes(batchedRequest) ? NOBODY : attempt(batchedRequest)));
    namedStatement
        .set("session", like == null ? NOBODY : like.attempt().session().value())
        .set("capacity", like == null ? Mode.SHARERS : like.mode().capacity())
        .set("tokens", like == null ? 1 : like.tokens())
        .set("at_least_us", like == null ? -1 : WaitRow.length(like.terms().atLeast()))
        .set("label", like == null ? "" : like.terms().label());
  }

  private List<String> each(Function<BatchedRequest, String> value) {
    List<String> values = new ArrayList<>(batchedRequests.size());
    for (BatchedRequest batchedRequest : batchedRequests) {
      values.add(value.apply(batchedRequest));
    }
    return values;
  }

  private static boolean takes(BatchedRequest batchedRequest) {
    return batchedRequest.request() instanceof Request.Acquire;
  }

  private static String name(BatchedRequest batchedRequest) {
    return batchedRequest.request().name().value();
  }

  private static String attempt(BatchedRequest batchedRequest) {
    return batchedRequest.request().attempt().encoded();
  }

  private static String old(BatchedRequest batchedRequest) {
    return batchedRequest.old() == null ? NOBODY : batchedRequest.releasing().encoded();
  }
}
