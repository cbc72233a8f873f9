package io.mortise.jdbc;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.How;
import io.mortise.spi.Reply.Was;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The short cuts of {@link LockSteps}: each is one statement, or one flush, whose conditions are
 * checked on the row that it changes. What they do not foresee they leave as it is.
 */
final class FastSteps {
  private static final Rows.Block NOTHING = new Rows.Block(0, 0);

  private final Rows rows;
  private final Consumer<News> told;

  /**
   * @param told receives the news that a step left; valid once the transaction has committed
   */
  FastSteps(Rows rows, Consumer<News> told) {
    this.rows = rows;
    this.told = told;
  }

  /** Whether {@link #alone} may know an answer. */
  static boolean hasFastPath(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return acquire.mode().isExclusive() && acquire.provenDead() == null;
    }
    return request instanceof Request.Abandon;
  }

  /**
   * The answer to an acquire of a session that was seen alive a moment ago, as {@link #alone}.
   *
   * @param aliveUntil when the session ends without a further renewal, by the store's clock
   */
  @Nullable Reply seen(Request.Acquire request, long aliveUntil) throws SQLException {
    Rows.Block block = rows.acquireSeen(request, aliveUntil);
    return block == null ? null : fastReply(request, block);
  }

  /**
   * The answer of the one-statement path, or null: nothing was changed, {@link LockSteps#apply}
   * decides.
   */
  @Nullable Reply alone(Request request, Rows.Clock clock) throws SQLException {
    if (request instanceof Request.Acquire acquire) {
      Rows.Block block = rows.acquireFast(acquire, clock);
      return block == null ? null : fastReply(request, block);
    }
    return rows.abandonFast((Request.Abandon) request, clock) ? fastReply(request, NOTHING) : null;
  }

  /** Whether there is {@link #seen}. */
  boolean hasSeen() {
    return rows.hasSeen();
  }

  /** The same of a lock that nobody is known to have asked for; null also if it has a row. */
  @Nullable Reply first(Request.Acquire request) throws SQLException {
    Rows.Block block = rows.acquireFirst(request);
    return block == null ? null : fastReply(request, block);
  }

  /** Whether there may be another for what {@link #alone} left, see {@link #contended}. */
  boolean hasContended() {
    return rows.hasContended();
  }

  /** See {@link Rows#mayBePartlyDone}. */
  boolean mayBePartlyDone() {
    return rows.mayBePartlyDone();
  }

  /**
   * What is common on locks that others want, in one text.
   *
   * @param requests each with a fast path, those who acquire ready to queue
   */
  List<ContendedStep> contended(List<Request> requests) throws SQLException {
    List<ContendedStep> steps = new ArrayList<>();
    for (Request request : requests) {
      steps.add(new ContendedStep(request));
    }
    rows.contended(steps);
    for (ContendedStep step : steps) {
      step.told().forEach(told);
    }
    return steps;
  }

  /**
   * The answers to requests by the one-statement path, which commits by itself; null where {@link
   * LockSteps#apply} decides.
   *
   * @param asks each with a fast path, no lock twice
   */
  List<@Nullable Reply> together(List<Rows.Ask> asks) throws SQLException {
    List<@Nullable Reply> replies = new ArrayList<>();
    if (asks.size() == 1 && asks.get(0).request() instanceof Request.Acquire acquire) {
      Rows.Block block = rows.exchange(asks.get(0).releasing(), acquire);
      replies.add(block == null ? null : fastReply(acquire, block));
      return replies;
    }
    Map<String, Rows.Block> done = rows.together(asks);
    for (Rows.Ask ask : asks) {
      Rows.Block block = done.get(ask.request().attempt().encoded());
      boolean takes = ask.request() instanceof Request.Acquire;
      // Of an attempt that asks to hold it is no answer that it has ended, nor the reverse.
      replies.add(
          block != null && takes == block.tokens() > 0 ? fastReply(ask.request(), block) : null);
    }
    return replies;
  }

  /** See {@link Rows#ensureUnlocked}. */
  void ensureUnlocked(LockName name) throws SQLException {
    rows.ensureUnlocked(name);
  }

  /** The answer to a release that was done in one step with an acquire. */
  static Reply released(AttemptId attempt) {
    return new Reply.Ended(attempt, Was.HELD, How.RELEASED, false);
  }

  static Reply granted(Request.Acquire request, Rows.Block block) {
    return new Reply.Granted(
        request.attempt(), block.token(), block.tokens(), false, request.terms().atMost());
  }

  private static Reply fastReply(Request request, Rows.Block block) {
    return request instanceof Request.Acquire acquire
        ? granted(acquire, block)
        : released(request.attempt());
  }
}
