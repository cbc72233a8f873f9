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
 * The session of one process in one member, until that member has lost it. The lock of {@link
 * QuorumRenewal} guards all mutable state that is not volatile.
 */
final class MemberSession {
  final Member member;
  final StoreSession store;

  /** When the last acknowledged renewal was sent. */
  private volatile long renewedAt;

  private final AtomicInteger doubts = new AtomicInteger();
  private volatile int cleared;

  /** The member's incarnation at the last renewal. */
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

  /** The member's notifications that were passed on, to be acknowledged by the next renewal. */
  final List<Long> seen = new ArrayList<>();

  /**
   * The member's notifications of wanted attempts, by the member's ids. Acknowledged when the
   * engine has been told, so that the member drops those of ended attempts earlier.
   */
  final Map<AttemptId, Long> wanted = new HashMap<>();

  /**
   * There were too many of them: passed-on notifications stay valid whatever the member reports.
   */
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
   * Whether the server may have been restarted, and no renewal has cleared that up yet: an answer
   * may meanwhile come from one that has forgotten.
   */
  boolean isInDoubt() {
    return doubts.get() != cleared;
  }

  int doubts() {
    return doubts.get();
  }

  /**
   * A renewal was answered that was sent after that many doubts.
   *
   * @return whether the server's incarnation is the same as before
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

  /** Whether it continues a session that another object opened, or tries to. */
  boolean isResumed() {
    return !open && confirmed != 0;
  }

  /** The member has refused to continue it. It may be opened anew, if it never was open. */
  void refuse() {
    refused = true;
    confirmed = 0;
    pending = 0;
  }

  /** Whether the member's last answer refused this object the session. */
  boolean isRefused() {
    return refused;
  }

  boolean isLost() {
    return lost;
  }

  /** A renewal is sent; returns the time from which it counts once acknowledged. */
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
