package io.mortise.jdbc.table;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.LockTable;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The common step on a contended lock, in one text and a transaction of its own: queue_up.sql for
 * an acquire, hand_off.sql for a release. Any other case changes nothing.
 */
public final class ContendedRequest {
  private final Request request;
  private final List<SessionNotification> pendingNotifications = new ArrayList<>();
  private boolean done;

  /** The outcome of an acquire that was done. */
  @Nullable ContendedOutcome outcome;

  /**
   * The outcome of an acquire that expects a held lock.
   *
   * @param taken the tokens, if the lock was free; null if the attempt has joined the queue
   * @param holder the current holder, unless {@code taken}; the other components likewise
   * @param left microseconds until the holder's session expires
   * @param atMostUntil when its at-most time ends
   * @param soonest the earliest expiry of a session ahead in the queue
   */
  record ContendedOutcome(
      LockRepository.@Nullable TokenRange taken,
      String holder,
      long token,
      long left,
      long atMostUntil,
      long ahead,
      long soonest,
      long now) {
    /** As queue_up.sql says. */
    static ContendedOutcome read(ResultSet row) throws SQLException {
      String holder = row.getString(1);
      if (holder == null) {
        return new ContendedOutcome(
            new LockRepository.TokenRange(row.getLong(2), row.getInt(3)), "", 0, 0, 0, 0, 0, 0);
      }
      long soonest = row.getLong(7);
      return new ContendedOutcome(
          null,
          holder,
          row.getLong(2),
          row.getLong(4),
          row.getLong(5),
          row.getLong(6),
          soonest == 0 ? LockRecord.NEVER : soonest,
          row.getLong(8));
    }
  }

  /**
   * @param request an acquire of a whole lock, or a release
   */
  ContendedRequest(Request request) {
    this.request = request;
  }

  /** The file. */
  String statement() {
    return request instanceof Request.Acquire ? "queue_up" : "hand_off";
  }

  void bind(NamedStatement namedStatement) throws SQLException {
    namedStatement
        .set("name", request.name().value())
        .set("channels", PostgresNotificationCodec.CHANNELS)
        .set("connections", SessionRepository.CONNECTIONS);
    if (request instanceof Request.Acquire acquire) {
      LockRepository.bind(namedStatement, acquire).set("ahead", LockTable.STEPS);
    } else {
      namedStatement
          .set("attempt", request.attempt().encoded())
          .set("session", request.attempt().session().value());
    }
  }

  /**
   * Reads the outcome.
   *
   * @param row before the first
   */
  void read(ResultSet row) throws SQLException {
    done = row.next();
    if (done && request instanceof Request.Acquire) {
      outcome = ContendedOutcome.read(row);
      String holder = row.getString(1);
      if (holder != null && (row.getInt(3) & HoldRow.TOLD) == 0) {
        pendingNotifications.add(
            new SessionNotification.Contended(request.name(), AttemptId.parse(holder)));
      }
    } else if (done && row.getString(1) != null) {
      pendingNotifications.add(
          new SessionNotification.HoldGranted(
              request.name(),
              AttemptId.parse(row.getString(1)),
              row.getLong(2),
              row.getInt(3),
              (row.getInt(4) & HoldRow.TOLD) != 0,
              row.getLong(5) != LockRecord.NEVER));
    }
  }

  /** The answer, or null if it was not done. */
  public @Nullable Reply reply() {
    if (!done) {
      return null;
    }
    ContendedOutcome found = outcome;
    if (found == null) {
      return LockRepository.released(request.attempt());
    }
    LockRepository.TokenRange taken = found.taken();
    if (taken != null) {
      return taken.granted((Request.Acquire) request);
    }
    long mayBeFree = Math.min(found.atMostUntil(), found.now() + found.left());
    if (found.ahead() > 0) {
      mayBeFree = Math.min(mayBeFree, found.soonest());
    }
    return new Reply.Queued(
        request.attempt(),
        (int) Math.min(found.ahead(), Integer.MAX_VALUE),
        new Reply.Holder(
            AttemptId.parse(found.holder()), found.token(), LockRecord.duration(found.left())),
        LockTable.retryAfter(mayBeFree, found.ahead(), found.now()));
  }

  /** The notifications that it left. */
  public List<SessionNotification> pendingNotifications() {
    return pendingNotifications;
  }
}
