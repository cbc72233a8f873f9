package io.mortise.jdbc;

import io.mortise.spi.AttemptId;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is common on a lock that others want too, in one text and a transaction of its own:
 * queue_up.sql of an acquire, hand_over.sql of a release. What it does not foresee it leaves as it
 * is.
 */
final class ContendedStep {
  private final Request request;
  private final List<News> told = new ArrayList<>();
  private boolean done;
  private Rows.@Nullable Place place;

  /**
   * @param request an acquire of a whole lock, or a release
   */
  ContendedStep(Request request) {
    this.request = request;
  }

  Request request() {
    return request;
  }

  /** The file. */
  String statement() {
    return request instanceof Request.Acquire ? "queue_up" : "hand_over";
  }

  void bind(Sql sql) throws SQLException {
    sql.set("name", request.name().value())
        .set("channels", PostgresHints.CHANNELS)
        .set("connections", SessionRows.CONNECTIONS);
    if (request instanceof Request.Acquire acquire) {
      Rows.bind(sql, acquire).set("ahead", LockSteps.STEPS);
    } else {
      sql.set("attempt", request.attempt().encoded())
          .set("session", request.attempt().session().value());
    }
  }

  /**
   * Reads what it came to.
   *
   * @param row before the first
   */
  void read(ResultSet row) throws SQLException {
    done = row.next();
    if (done && request instanceof Request.Acquire) {
      place = Rows.Place.read(row);
      String holder = row.getString(1);
      if (holder != null && (row.getInt(3) & HoldRow.TOLD) == 0) {
        told.add(new News.Wanted(request.name(), AttemptId.parse(holder)));
      }
    } else if (done && row.getString(1) != null) {
      told.add(
          new News.Granted(
              request.name(),
              AttemptId.parse(row.getString(1)),
              row.getLong(2),
              row.getInt(3),
              (row.getInt(4) & HoldRow.TOLD) != 0,
              row.getLong(5) != LockRow.NEVER));
    }
  }

  /** Whether it was done; else nothing was changed. */
  boolean isDone() {
    return done;
  }

  /** The answer, or null if it was not done. */
  @Nullable Reply reply() {
    if (!done) {
      return null;
    }
    Rows.Place found = place;
    if (found == null) {
      return FastSteps.released(request.attempt());
    }
    Rows.Block taken = found.taken();
    if (taken != null) {
      return FastSteps.granted((Request.Acquire) request, taken);
    }
    long mayBeFree = Math.min(found.freeAt(), found.now() + found.left());
    if (found.ahead() > 0) {
      mayBeFree = Math.min(mayBeFree, found.soonest());
    }
    return new Reply.Queued(
        request.attempt(),
        (int) Math.min(found.ahead(), Integer.MAX_VALUE),
        new Reply.Holder(
            AttemptId.parse(found.holder()), found.token(), LockSteps.micros(found.left())),
        LockSteps.askAgain(mayBeFree, found.ahead(), found.now()));
  }

  /** What became of an acquire that was done. */
  Rows.@Nullable Place place() {
    return place;
  }

  /** The news that it left. */
  List<News> told() {
    return told;
  }
}
