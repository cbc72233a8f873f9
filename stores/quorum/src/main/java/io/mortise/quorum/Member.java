package io.mortise.quorum;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.LockStore;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One of the stores that vote. Thread-safe. */
final class Member {
  private static final int PROOFS = 1_024;
  private static final long SECOND = 1_000_000_000;

  final int index;

  /** Its name while it could not be opened yet. */
  private final String name;

  private volatile @Nullable LockStore store;

  /** Null if it never forgets. */
  private volatile @Nullable MemberIncarnation memberIncarnation;

  /**
   * @param restarted whether the incarnation has changed while the member was known here
   */
  private record MemberIncarnation(String incarnation, long nanos, boolean restarted) {}

  /** Sessions that this member has judged ended, for good. The oldest are dropped. */
  private final Map<SessionId, Boolean> ended = new BoundedMap<>(PROOFS);

  /** Its clock in µs minus the ticker in ns; {@link Long#MIN_VALUE} while unknown. */
  private volatile long clockOffset = Long.MIN_VALUE;

  Member(int index, String name, @Nullable LockStore store) {
    this.index = index;
    this.name = name;
    this.store = store;
  }

  /** Null while it could not be opened. */
  @Nullable LockStore store() {
    return store;
  }

  void opened(LockStore now, long nowNanos) {
    ServerIncarnation incarnation = now.incarnation();
    if (incarnation != null) {
      memberIncarnation =
          new MemberIncarnation(incarnation.id(), nowNanos - incarnation.age().toNanos(), false);
    }
    store = now;
  }

  /**
   * Takes the member's present incarnation. If it differs from the last one, the member may have
   * forgotten data, as late as just now for all that is known here.
   */
  void observeIncarnation(String incarnation, long nowNanos) {
    MemberIncarnation known = memberIncarnation;
    if (!incarnation.isEmpty() && known != null && !known.incarnation().equals(incarnation)) {
      memberIncarnation = new MemberIncarnation(incarnation, nowNanos, true);
    }
  }

  /** Whether it has surely kept its data for that long, or never forgets. */
  boolean hasKeptDataFor(long nowNanos, long nanos) {
    MemberIncarnation known = memberIncarnation;
    return known == null || nowNanos - known.nanos() - nanos >= 0;
  }

  /**
   * Explains why it has no vote, and for how much longer; for members that {@link #hasKeptDataFor}
   * denies.
   */
  String quarantined(long nowNanos, long nanos) {
    MemberIncarnation known = memberIncarnation;
    long age = known == null ? 0 : nowNanos - known.nanos();
    return "no vote for %s more (%s %s ago, quarantine %s)"
        .formatted(
            // Rounded up: when that many seconds are over, so is the quarantine.
            DurationText.formatExact(
                Duration.ofSeconds(-Math.floorDiv(Math.min(0, age - nanos), SECOND))),
            known != null && known.restarted() ? "restarted" : "started",
            DurationText.format(Duration.ofNanos(age)),
            DurationText.format(Duration.ofNanos(nanos)));
  }

  String display() {
    LockStore present = store;
    return present == null ? name : present.profile().display();
  }

  void proveEnded(SessionId session) {
    synchronized (ended) {
      ended.put(session, true);
    }
  }

  boolean hasEnded(@Nullable SessionId session) {
    if (session == null) {
      return false;
    }
    synchronized (ended) {
      return ended.containsKey(session);
    }
  }

  /** It read its clock some time after this moment. */
  void learnClock(long sentNanos, long storeMicros) {
    if (storeMicros > 0) {
      clockOffset = storeMicros - sentNanos / 1000;
    }
  }

  /** A lower bound of its clock; {@link Long#MIN_VALUE} if unknown. */
  long clock(long nowNanos) {
    long offset = clockOffset;
    return offset == Long.MIN_VALUE ? offset : offset + nowNanos / 1000;
  }

  @Override
  public String toString() {
    return display();
  }
}
