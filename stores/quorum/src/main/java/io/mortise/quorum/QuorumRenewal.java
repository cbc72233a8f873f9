package io.mortise.quorum;

import io.mortise.StoreUnavailableException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.support.internal.session.Refusals;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Renews the sessions in the members, all at the same time, and opens new ones in members that have
 * lost theirs or were not there before.
 *
 * <p>A member that missed a renewal is behind: each continues from a beat of its own. A clone of
 * the process is detected here, by the beat of the whole, and by each member.
 *
 * <p>Silent members are left out after the member timeout, once a majority has renewed. A majority
 * itself may take longer: ZooKeeper proves a renewal a tick after it was sent, and a repeated one
 * would have to wait as long again.
 */
final class QuorumRenewal {
  private final QuorumSession session;
  private final QuorumLockStore store;
  private final SessionSpec spec;
  private final ReentrantLock guard = new ReentrantLock();

  /** Written under the lock. */
  private final AtomicReferenceArray<@Nullable MemberSession> sessions;

  // Guarded by the lock, as is the mutable state of each MemberSession.
  private final int[] generations;
  private long beat = -1;
  private volatile boolean begun;
  private volatile boolean over;

  QuorumRenewal(QuorumSession session, QuorumLockStore store, SessionSpec spec) {
    this.session = session;
    this.store = store;
    this.spec = spec;
    int size = store.members().size();
    this.sessions = new AtomicReferenceArray<>(size);
    this.generations = new int[size];
    for (Member member : store.members()) {
      if (member.store() != null) {
        sessions.set(member.index, open(member));
      }
    }
  }

  private MemberSession open(Member member) {
    SessionSpec own =
        new SessionSpec(
            MemberIds.generation(spec.id(), generations[member.index]), spec.ttl(), spec.client());
    return new MemberSession(member, own, session::heard, session::renewNow);
  }

  @Nullable MemberSession session(int member) {
    return sessions.get(member);
  }

  /** Whether a member judges it by its beat. */
  boolean isJudgedByBeat() {
    for (int member = 0; member < sessions.length(); member++) {
      MemberSession present = sessions.get(member);
      if (present != null && present.store.isJudgedByBeat()) {
        return true;
      }
    }
    return false;
  }

  /** Whether this object renews the session. */
  boolean hasBegun() {
    return begun;
  }

  /** Whether a majority of members has lost the session, or it was closed. */
  boolean isOver() {
    return over;
  }

  /** One beat for each member, and its results. */
  private static final class RenewalRound {
    final CompletableFuture<Renewal> result = new CompletableFuture<>();
    final QuorumNotificationBuffer box;
    final long next;
    int renewed;
    int lost;
    int unknown;

    /** Whether a majority is enough by now. */
    boolean late;

    @Nullable Throwable cause;

    RenewalRound(long next, QuorumNotificationBuffer box) {
      this.next = next;
      this.box = box;
    }
  }

  CompletionStage<Renewal> renew(
      long previous, long next, List<Long> seen, QuorumNotificationBuffer box) {
    begun = true;
    RenewalRound round = new RenewalRound(next, box);
    List<MemberSession> asked = new ArrayList<>();
    guard.lock();
    try {
      if (over) {
        return CompletableFuture.completedFuture(lost());
      }
      if (beat >= 0 && beat != previous && beat != next) {
        return CompletableFuture.completedFuture(Refusals.RENEWED_BY_ANOTHER);
      }
      acknowledge(box.acknowledge(seen), box);
      for (Member member : store.members()) {
        MemberSession present = sessions.get(member.index);
        if (present == null && member.store() != null) {
          present = open(member);
        } else if (present != null && present.isLost() && !isLost()) {
          generations[member.index]++;
          // Not earlier: holds that it leaves behind may have to be ended through it.
          var unused = present.store.close();
          present = open(member);
        }
        sessions.set(member.index, present);
        if (present == null || present.isLost()) {
          round.unknown++;
        } else {
          if (!present.isOpen() && generations[member.index] == 0 && present.pending == 0) {
            present.confirmed = previous;
          }
          if (present.pending == 0) {
            present.pending = next;
          }
          asked.add(present);
        }
      }
    } finally {
      guard.unlock();
    }
    Runnable stopWaiting = session.later(() -> late(round));
    // A later answer would be of no use. The engine has other rounds begun meanwhile.
    Runnable stop = store.later(spec.ttl().toNanos(), () -> timeOver(round));
    asked.forEach(member -> ask(member, round));
    look(round);
    var unused =
        round.result.whenComplete(
            (answer, failure) -> {
              stopWaiting.run();
              stop.run();
            });
    return round.result;
  }

  private void ask(MemberSession member, RenewalRound round) {
    long previous;
    long next;
    List<Long> seen;
    long sentAt = session.now();
    long countsFrom;
    guard.lock();
    try {
      previous = member.confirmed;
      next = member.pending == 0 ? member.confirmed : member.pending;
      seen = List.copyOf(member.seen);
      countsFrom = member.sends(next, sentAt);
    } finally {
      guard.unlock();
    }
    int doubts = member.doubts();
    CompletionStages.start(() -> member.store.renew(previous, next, seen))
        .whenComplete(
            (renewal, failure) ->
                answered(
                    member,
                    round,
                    new MemberRenewal(sentAt, countsFrom, doubts),
                    next,
                    seen,
                    failure == null ? renewal : new Renewal.Unknown(failure)));
  }

  /**
   * When a renewal was sent, from when it counts, and how many doubts there had been about the
   * server by then.
   */
  private record MemberRenewal(long at, long countsFrom, int doubts) {}

  private void answered(
      MemberSession member,
      RenewalRound round,
      MemberRenewal sentRenewal,
      long next,
      List<Long> seen,
      Renewal renewal) {
    boolean again = false;
    if (renewal instanceof Renewal.Renewed renewed) {
      member.member.learnClock(sentRenewal.at(), renewed.storeMicros());
      // Ends are processed before the votes of this member last longer.
      renewed
          .notifications()
          .forEach(
              numberedNotification -> session.heard(member, numberedNotification.notification()));
      again = renewed.more();
      member.member.observeIncarnation(renewed.incarnation(), session.now());
      boolean forgot;
      guard.lock();
      try {
        forgot = !member.confirm(sentRenewal.doubts(), renewed.incarnation());
        member.confirmed = Math.max(member.confirmed, next);
        if (member.pending == next) {
          member.pending = 0;
        }
        member.seen.removeAll(seen);
        take(member, renewed);
        if (!forgot && !(renewed.more() && endsWithGone(renewed))) {
          member.renewed(store.rules().countsFrom(sentRenewal.countsFrom(), session.now()));
        }
      } finally {
        guard.unlock();
      }
      if (forgot) {
        // The session survived the restart, but its holds may not have.
        session.lost(member);
        var unused = member.store.close();
        count(round, new Renewal.Lost("the member may have forgotten"));
        return;
      }
      session.releasing().retryReleases(member.member.index);
    } else if (renewal instanceof Renewal.Lost && member.isResumed()) {
      guard.lock();
      try {
        member.refuse();
      } finally {
        guard.unlock();
      }
    } else if (renewal instanceof Renewal.Lost) {
      session.lost(member);
    }
    if (again) {
      // All notifications come before the answer: an end must not be reported after the extension.
      ask(member, round);
    } else {
      count(round, renewal);
    }
  }

  private static void take(MemberSession member, Renewal.Renewed renewed) {
    if (renewed.more()) {
      // The rest is sent only after these are acknowledged.
      member.manyWanted = true;
    } else {
      member.wanted.clear();
    }
    for (Renewal.NumberedNotification numberedNotification : renewed.notifications()) {
      if (numberedNotification.notification() instanceof SessionNotification.Contended contended
          && !renewed.more()) {
        member.wanted.put(contended.attempt(), numberedNotification.id());
      } else {
        member.seen.add(numberedNotification.id());
      }
    }
  }

  /** Whether a member's latest report says that an attempt of ours is wanted. */
  private boolean isWanted(AttemptId attempt) {
    for (int i = 0; i < sessions.length(); i++) {
      MemberSession member = sessions.get(i);
      if (member != null && (member.manyWanted || wantedIn(member, attempt) != null)) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable AttemptId wantedIn(MemberSession member, AttemptId attempt) {
    for (AttemptId there : member.wanted.keySet()) {
      if (MemberIds.number(there) == attempt.number()) {
        return there;
      }
    }
    return null;
  }

  /** The engine knows it now, so the members may drop it. */
  private void acknowledge(List<AttemptId> known, QuorumNotificationBuffer box) {
    for (int i = 0; i < sessions.length(); i++) {
      MemberSession member = sessions.get(i);
      if (member != null) {
        for (AttemptId attempt : known) {
          AttemptId there = wantedIn(member, attempt);
          Long id = there == null ? null : member.wanted.remove(there);
          if (id != null) {
            member.seen.add(id);
          }
        }
        member.manyWanted &= box.isWaiting();
      }
    }
  }

  private static boolean endsWithGone(Renewal.Renewed renewed) {
    List<Renewal.NumberedNotification> notifications = renewed.notifications();
    return !notifications.isEmpty()
        && notifications.get(notifications.size() - 1).notification()
            instanceof SessionNotification.HoldEnded;
  }

  private void count(RenewalRound round, Renewal renewal) {
    guard.lock();
    try {
      if (renewal instanceof Renewal.Renewed) {
        round.renewed++;
      } else if (renewal instanceof Renewal.Lost) {
        round.lost++;
      } else if (renewal instanceof Renewal.Unknown unknown) {
        round.unknown++;
        round.cause = unknown.cause();
      }
    } finally {
      guard.unlock();
    }
    look(round);
  }

  /** Answers when all members have, or enough of them for any answer, silent ones excepted. */
  private void look(RenewalRound round) {
    Renewal answer = null;
    guard.lock();
    try {
      int size = store.members().size();
      if (round.result.isDone()) {
        return;
      }
      over |= isLost();
      if (over || round.lost > size - store.majority()) {
        answer = lost();
      } else {
        boolean whole = round.renewed + round.lost + round.unknown == size;
        if ((whole || round.late) && round.renewed >= store.majority()) {
          // A round that waited long for one member may end after the next.
          beat = Math.max(beat, round.next);
          answer = round.box.renewed(this::isWanted);
        } else if (whole) {
          answer = new Renewal.Unknown(tooFew(round));
        }
      }
    } finally {
      guard.unlock();
    }
    if (answer != null) {
      round.result.complete(answer);
    }
  }

  private StoreUnavailableException tooFew(RenewalRound round) {
    return QuorumErrors.unavailable(
        "Only %s of %s members renewed the session (store=%s)."
            .formatted(round.renewed, store.members().size(), session.storeName()),
        round.cause);
  }

  private void late(RenewalRound round) {
    guard.lock();
    try {
      round.late = true;
    } finally {
      guard.unlock();
    }
    look(round);
  }

  private void timeOver(RenewalRound round) {
    guard.lock();
    try {
      round.unknown = store.members().size() - round.renewed - round.lost;
    } finally {
      guard.unlock();
    }
    look(round);
  }

  /** Whether a majority of members has lost it: its holds are gone, and it never comes back. */
  private boolean isLost() {
    int lost = 0;
    for (int i = 0; i < sessions.length(); i++) {
      MemberSession member = sessions.get(i);
      lost += member != null && member.isLost() ? 1 : 0;
    }
    return lost > store.members().size() - store.majority();
  }

  private static Renewal lost() {
    return new Renewal.Lost("a majority of members no longer knows the session");
  }

  CompletionStage<Void> close() {
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    guard.lock();
    try {
      over = true;
      for (int i = 0; i < sessions.length(); i++) {
        MemberSession member = sessions.get(i);
        if (member != null) {
          ends.add(
              member.store.close().toCompletableFuture().handle((done, failure) -> (Void) null));
        }
      }
    } finally {
      guard.unlock();
    }
    return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]))
        .completeOnTimeout(null, store.timeoutNanos(), TimeUnit.NANOSECONDS);
  }
}
