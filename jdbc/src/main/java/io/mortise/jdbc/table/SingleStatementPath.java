package io.mortise.jdbc.table;

import io.mortise.LockName;
import io.mortise.internal.table.LockTable;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The short cuts of {@link LockTable}: each is one statement, or one flush, whose conditions are
 * checked on the row that it changes. What they do not foresee they leave as it is.
 */
public final class SingleStatementPath {
  private final LockRepository repository;
  private final Consumer<SessionNotification> pendingNotifications;

  /**
   * @param pendingNotifications receives the notifications that a step left; valid once the
   *     transaction has committed
   */
  SingleStatementPath(
      LockRepository repository, Consumer<SessionNotification> pendingNotifications) {
    this.repository = repository;
    this.pendingNotifications = pendingNotifications;
  }

  /** Whether {@link #alone} may know an answer. */
  public static boolean hasFastPath(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return acquire.mode().isExclusive() && acquire.provenDead() == null;
    }
    return request instanceof Request.Abandon;
  }

  /**
   * The answer of the one-statement path, or null: nothing was changed, {@link LockTable#apply}
   * decides.
   */
  public @Nullable Reply alone(Request request, LockRepository.Clock clock) throws SQLException {
    if (request instanceof Request.Acquire acquire) {
      return granted(acquire, repository.acquireFast(acquire, clock));
    }
    boolean ended = repository.abandonFast((Request.Abandon) request, clock);
    return ended ? released(request.attempt()) : null;
  }

  /** The same of a lock that nobody is known to have asked for; null also if it has a row. */
  public @Nullable Reply first(Request.Acquire request) throws SQLException {
    return granted(request, repository.acquireFirst(request));
  }

  /** See {@link LockRepository#mayBePartlyDone}. */
  public boolean mayBePartlyDone() {
    return repository.mayBePartlyDone();
  }

  /**
   * What is common on locks that others want, in one text.
   *
   * @param requests each with a fast path, those who acquire ready to queue
   */
  public List<ContendedRequest> contended(List<Request> requests) throws SQLException {
    List<ContendedRequest> contendedRequests = new ArrayList<>();
    for (Request request : requests) {
      contendedRequests.add(new ContendedRequest(request));
    }
    repository.contended(contendedRequests);
    for (ContendedRequest contendedRequest : contendedRequests) {
      contendedRequest.pendingNotifications().forEach(pendingNotifications);
    }
    return contendedRequests;
  }

  /**
   * The answers to requests by the one-statement path, which commits by itself; null where {@link
   * LockTable#apply} decides.
   *
   * @param batchedRequests each with a fast path, no lock twice
   */
  public List<@Nullable Reply> together(List<LockRepository.BatchedRequest> batchedRequests)
      throws SQLException {
    List<@Nullable Reply> replies = new ArrayList<>();
    Map<String, LockRepository.TokenRange> done = repository.together(batchedRequests);
    for (LockRepository.BatchedRequest batchedRequest : batchedRequests) {
      AttemptId attempt = batchedRequest.request().attempt();
      LockRepository.TokenRange taken = done.get(attempt.encoded());
      boolean holds = taken != null && taken.tokens() > 0;
      // Of an attempt that asks to hold it is no answer that it has ended, nor the reverse.
      if (batchedRequest.request() instanceof Request.Acquire acquire) {
        replies.add(holds ? granted(acquire, taken) : null);
      } else {
        replies.add(taken != null && !holds ? released(attempt) : null);
      }
    }
    return replies;
  }

  /** See {@link LockRepository#ensureUnlocked}. */
  public void ensureUnlocked(LockName name) throws SQLException {
    repository.ensureUnlocked(name);
  }

  /** The answer to a release that was done in one step with an acquire. */
  public static Reply released(AttemptId attempt) {
    return new Reply.Ended(attempt, AttemptState.HELD, EndReason.RELEASED, false);
  }

  /** The answer to an acquire, or null if nothing was taken. */
  static @Nullable Reply granted(
      Request.Acquire request, LockRepository.@Nullable TokenRange taken) {
    return taken == null
        ? null
        : new Reply.Granted(
            request.attempt(), taken.token(), taken.tokens(), false, request.terms().atMost());
  }
}
