package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The session of one process in one member, until that member has lost it. What changes and is not
 * volatile is guarded by the lock of {@link QuorumRenewal}.
 */
final class MemberSession {
  final Member member;
  final StoreSession store;

  /** When the last renewal was sent that the member acknowledged. */
  private volatile long renewedAt;

  private final AtomicInteger doubts = new AtomicInteger();
  private volatile int cleared;

  /** What the member remembered with at the last renewal. */
  private @Nullable String incarnation;

  private volatile boolean open;
  private volatile boolean lost;
  private volatile boolean refused;

  /** The beat that the member confirmed last, and the one that it may have taken; 0 for none. */
  volatile long confirmed;

  long pending;

  /** The beat that was sent last, and when it was sent first. */
  private long sentBeat;

  private long sentBeatAt;

  /** Of the member's notifications: told, and to be acknowledged by the next renewal. */
  final List<Long> seen = new ArrayList<>();

  /**
   * Of the member's notifications: which attempts are wanted, by the member's names. Acknowledged
   * when the engine has been told, so that the member takes back what has ended before.
   */
  final Map<AttemptId, Long> wanted = new HashMap<>();

  /** There were too many of them: those that were told stand whatever the member says. */
  boolean manyWanted;

  MemberSession(
      Member member,
      SessionSpec spec,
      BiConsumer<MemberSession, SessionNotification> hints,
      Runnable renewNow) {
    this.member = member;
    this.store =
        Objects.requireNonNull(member.store())
            .open(spec, notifications -> hints.accept(this, notifications));
    store.onSuspectedRestart(
        () -> {
          doubts.incrementAndGet();
          renewNow.run();
        });
  }

  /**
   * Whether there is reason to think that the server was restarted, which no renewal has cleared up
   * yet: what it answers meanwhile may come from one that has forgotten.
   */
  boolean isInDoubt() {
    return doubts.get() != cleared;
  }

  int doubts() {
    return doubts.get();
  }

  /**
   * A renewal was answered that was sent when there had been so many doubts.
   *
   * @return whether the server remembers with the same as before
   */
  boolean confirm(int doubtsWhenSent, String now) {
    boolean same = incarnation == null || incarnation.equals(now);
    incarnation = now;
    cleared = doubtsWhenSent;
    return same;
  }

  SessionId id() {
    return store.id();
  }

  long renewedAt() {
    return renewedAt;
  }

  /** Whether the member knows it. */
  boolean isOpen() {
    return open && !lost;
  }

  /** Whether it goes on with a session that another object opened, or tries to. */
  boolean isResumed() {
    return !open && confirmed != 0;
  }

  /** The member has not let it go on so. It may be begun anew, if it never was. */
  void refuse() {
    refused = true;
    confirmed = 0;
    pending = 0;
  }

  /** Whether the member said last that this object does not go on with the session. */
  boolean isRefused() {
    return refused;
  }

  boolean isLost() {
    return lost;
  }

  /** A renewal is sent; returns from when on it counts if the member acknowledges it. */
  long sends(long beat, long now) {
    if (beat != sentBeat) {
      sentBeat = beat;
      sentBeatAt = now;
    }
    return store.isJudgedByBeat() ? sentBeatAt : now;
  }

  void renewed(long sentAt) {
    if (!open || sentAt - renewedAt > 0) {
      renewedAt = sentAt;
    }
    open = true;
    refused = false;
  }

  void lose() {
    lost = true;
  }
}
