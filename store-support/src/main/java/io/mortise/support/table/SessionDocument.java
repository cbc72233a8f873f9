package io.mortise.support.table;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionVerdict;
import io.mortise.support.internal.session.NotificationBuffer;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A whole session, with its notifications. Plain state that one step changes at a time. Times are
 * microseconds of the store's clock. Not thread-safe.
 */
public final class SessionDocument {
  private static final long NOT_OBSERVED = -1;

  final ClientLabel client;
  final NotificationBuffer notifications;

  /** The beat of the last renewal; 0 before the first. */
  long beat;

  /** The time when it ends without a further renewal. */
  long expiresAt;

  /** How long it lives after its last renewal. */
  long ttl;

  /** The number of renewals: changes with each executed renewal, as a beat need not. */
  long renewals;

  /**
   * Whether it was judged or closed. The in-memory store forgets such a session; a document stays
   * for a while.
   */
  boolean ended;

  /** Known in memory only. */
  boolean connected = true;

  /** The remaining time by its observer; then no clock of the store counts. */
  private long observedLeft = NOT_OBSERVED;

  private final TableRules rules;

  /** A session that its first renewal creates. */
  public SessionDocument(ClientLabel client, Duration ttl, long now) {
    this(client, new NotificationBuffer(), TableRules.ALL);
    this.ttl = LockRecord.micros(ttl);
    expiresAt = now + this.ttl;
  }

  SessionDocument(ClientLabel client, NotificationBuffer notifications, TableRules rules) {
    this.client = client;
    this.notifications = notifications;
    this.rules = rules;
  }

  /**
   * For a session that its first renewal creates in a clockless store: counts its renewals from
   * there on. Observers may remember a count of an earlier document of the same session.
   */
  public void countRenewalsFrom(long number) {
    renewals = number;
  }

  /** The client of the session, for people. */
  public ClientLabel client() {
    return client;
  }

  /** Whether it was judged or closed, for good. */
  public boolean hasEnded() {
    return ended;
  }

  /** How long it lives after its last renewal. */
  public Duration ttl() {
    return LockRecord.duration(ttl);
  }

  /** The number of renewals. */
  public long renewals() {
    return renewals;
  }

  /**
   * In a clockless store: sets how long it must still go without a renewal before it may be ended.
   * It lives until a process has ended it.
   */
  public void observed(Duration left) {
    observedLeft = LockRecord.micros(left);
  }

  /**
   * In a clockless store: how long ago it was renewed, by the clocks of two hosts, which need not
   * agree; null if it has ended, or the store has a clock.
   */
  public @Nullable Duration renewedAgo(long now) {
    return ended || observedLeft == NOT_OBSERVED
        ? null
        : LockRecord.duration(Math.max(0, now - (expiresAt - ttl)));
  }

  /** Whether it may be ended, and was not yet. */
  public boolean isOverdue(long now) {
    return !ended && (observedLeft == NOT_OBSERVED ? left(now) == 0 : observedLeft == 0);
  }

  /** For how many microseconds it lives without a further renewal; 0 if it has ended. */
  public long left(long now) {
    if (observedLeft != NOT_OBSERVED) {
      return ended ? 0 : Math.min(ttl, Math.max(1, observedLeft));
    }
    return ended || rules.isExpired(expiresAt, now) ? 0 : expiresAt - now;
  }

  /** Whether it expired so long ago that no request about it can be in flight. */
  public boolean isForgotten(long now) {
    return expiresAt + LockRecord.micros(rules.retention()) <= now;
  }

  /** See {@link io.mortise.spi.StoreSession#renew}. */
  public Renewal renew(long previous, long next, List<Long> seen, Duration ttl, long now) {
    if (left(now) == 0) {
      return Refusals.SESSION_EXPIRED;
    }
    if (!rules.acceptsBeat(beat, previous, next)) {
      return Refusals.RENEWED_BY_ANOTHER;
    }
    beat = next;
    this.ttl = LockRecord.micros(ttl);
    expiresAt = now + this.ttl;
    renewals++;
    notifications.acknowledge(seen);
    return renewed(now);
  }

  /** The beat of the last renewal; 0 before the first. */
  public long beat() {
    return beat;
  }

  /** The answer to a renewal that came after a later one of the same process. */
  public Renewal.Renewed renewed(long now) {
    return rules.deliversEndedHoldsFirst()
        ? notifications.renewed(now, rules.steps())
        : inOrder(notifications.renewed(now, Integer.MAX_VALUE));
  }

  /** As many notifications as a renewal may deliver, of any kind. */
  private Renewal.Renewed inOrder(Renewal.Renewed all) {
    List<Renewal.NumberedNotification> oldest =
        all.notifications().stream()
            .sorted(Comparator.comparing(Renewal.NumberedNotification::id))
            .limit(rules.steps())
            .toList();
    return new Renewal.Renewed(
        all.storeMicros(), oldest, all.notifications().size() > oldest.size(), "");
  }

  /** The verdict of {@link io.mortise.spi.LockStore#judge}. */
  public SessionVerdict verdict(long now) {
    return ended
        ? new SessionVerdict.SessionEnded()
        : new SessionVerdict.Alive(beat, LockRecord.duration(left(now)));
  }

  /** Ends it for good. */
  public void end() {
    ended = true;
  }

  /** All notifications that were not acknowledged, ended holds first. */
  public List<Renewal.NumberedNotification> notifications() {
    return notifications.renewed(0, Integer.MAX_VALUE).notifications();
  }

  /**
   * Leaves a notification, unless the session has ended or has the same already: a repeated step
   * leaves it again.
   *
   * @return whether this has changed anything
   */
  public boolean tell(SessionNotification notification, long now) {
    boolean isNew =
        left(now) > 0
            && notifications().stream().noneMatch(item -> item.notification().equals(notification));
    if (isNew) {
      notifications.add(notification);
    }
    return isNew;
  }

  /**
   * Removes the notifications about an ended hold.
   *
   * @return whether this has changed anything
   */
  public boolean forget(AttemptId attempt) {
    int before = notifications().size();
    notifications.forget(attempt);
    return notifications().size() < before;
  }
}
