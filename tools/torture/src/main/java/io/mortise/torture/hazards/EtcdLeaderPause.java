package io.mortise.torture.hazards;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.testserver.EtcdServer.EtcdCluster;
import io.mortise.torture.hazards.UnexpectedOutcomeException.NaiveLockSurvivedException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An etcd leader pauses for longer than an election, then resumes: two stories. */
final class EtcdLeaderPause {
  private static final String JOB = "mortise-hazard/job";
  private static final String IMPORT = "mortise-hazard/import";

  /** Longer than an answer takes, shorter than a lease lives. */
  private static final int PATIENCE_MILLIS = 1000;

  private static final int LOCKS = 3;
  private static final int LEASE_SECONDS = 2;

  /**
   * The outcome of a round depends on the leader's first action; with etcd 3.4 it is mostly this
   * one. A round takes about six seconds, so a story ends in less than two minutes.
   */
  private static final int MOST_ROUNDS = 12;

  /** Longer than a lease, and than an election. */
  private static final Duration STANDSTILL = Duration.ofMillis(3500);

  /** The time in which the former leader does its harm. */
  private static final Duration AFTERMATH = Duration.ofMillis(1500);

  private static final Duration BETWEEN = Duration.ofMillis(200);
  private static final Duration TTL = Duration.ofSeconds(4);

  /** Shorter than an election. */
  private static final int IMPATIENCE_MILLIS = 500;

  private static final int LONG_LEASE_SECONDS = 60;
  private static final Duration LONG_TTL = Duration.ofSeconds(10);

  private EtcdLeaderPause() {}

  /** The former leader revokes leases that were kept alive meanwhile. */
  static void leaseIsRevoked(HazardContext hazardContext) throws Exception {
    EtcdCluster cluster = hazardContext.etcdCluster();
    boolean broken = naiveLease(hazardContext, cluster);
    mortiseLease(hazardContext, cluster);
    requireBroken(broken);
  }

  /** The former leader executes an abandoned write. */
  static void writeIsLate(HazardContext hazardContext) throws Exception {
    EtcdCluster cluster = hazardContext.etcdCluster();
    boolean broken = naiveWrite(hazardContext, cluster);
    mortiseWrite(hazardContext, cluster);
    requireBroken(broken);
  }

  /** Called at the end, so that Mortise's half is judged even if the naive lock was lucky. */
  private static void requireBroken(boolean broken) {
    if (!broken) {
      throw new NaiveLockSurvivedException(MOST_ROUNDS);
    }
  }

  private static boolean concluded(HazardContext hazardContext, boolean broken, String how) {
    hazardContext.conclude(
        broken
            ? "broke, as told: " + how
            : "did not break this time: lucky in " + MOST_ROUNDS + " rounds");
    return broken;
  }

  private static boolean naiveLease(HazardContext hazardContext, EtcdCluster cluster) {
    hazardContext.chapter(
        "The naive lock: a key on a lease of 2 s, kept alive all the time; three members");
    boolean broken = false;
    for (int round = 1; round <= MOST_ROUNDS && !broken; round++) {
      broken = standsStill(hazardContext, cluster, round);
    }
    return concluded(hazardContext, broken, "A and B work on the same job");
  }

  /**
   * Whether a lease was revoked although kept alive, which depends on the leader's first action.
   */
  private static boolean standsStill(HazardContext hazardContext, EtcdCluster cluster, int round) {
    int leader = cluster.leader(0);
    int follower = (leader + 1) % cluster.size();
    List<NaiveEtcdLock> held = new ArrayList<>();
    for (int i = 0; i < LOCKS; i++) {
      NaiveEtcdLock lock = lock(cluster, follower, "job " + round + "." + i);
      hazardContext.expect(lock.lock(), "A gets the lock");
      held.add(lock);
    }
    hazardContext.say("A", "has the locks of " + LOCKS + " jobs, through a follower");
    cluster.member(leader).pause();
    hazardContext.say("leader", "stands still (SIGSTOP), as a stalled host does");
    try {
      keepAlive(hazardContext, held, STANDSTILL);
      cluster.leader(follower);
      keepAlive(hazardContext, held, BETWEEN);
      hazardContext.expect(held.stream().allMatch(NaiveEtcdLock::isHeld), "A holds all of them");
      hazardContext.say("A", "holds them all; another leader answers that their leases live");
    } finally {
      cluster.member(leader).resume();
    }
    hazardContext.say("leader", "goes on, finds the leases over, and asks to revoke them");
    keepAlive(hazardContext, held, AFTERMATH);
    for (int i = 0; i < LOCKS; i++) {
      if (!held.get(i).isHeld()) {
        hazardContext.expect(
            lock(cluster, follower, "job " + round + "." + i).lock(), "B gets the lock");
        hazardContext.say(
            "B", "gets the lock of job " + i + ", which A has not released, and works on it");
        return true;
      }
    }
    hazardContext.say("A", "was lucky: the leader heard of its successor first. Once more");
    return false;
  }

  private static NaiveEtcdLock lock(EtcdCluster cluster, int member, String name) {
    return new NaiveEtcdLock(cluster.member(member), PATIENCE_MILLIS, name, LEASE_SECONDS);
  }

  private static void keepAlive(
      HazardContext hazardContext, List<NaiveEtcdLock> held, Duration time) {
    double end = hazardContext.seconds() + time.toMillis() / 1000.0;
    while (hazardContext.seconds() < end) {
      for (NaiveEtcdLock lock : held) {
        try {
          lock.keepAlive();
        } catch (UncheckedIOException e) {
          // During an election there is no answer; the new leader grants each lease a whole TTL.
          break;
        }
      }
      hazardContext.pass(BETWEEN);
    }
  }

  private static void mortiseLease(HazardContext hazardContext, EtcdCluster cluster)
      throws Exception {
    hazardContext.chapter("Mortise over the same members, TTL 4 s, without leases of etcd");
    int leader = cluster.leader(0);
    String url = cluster.url((leader + 1) % cluster.size()) + "?timeout=1s";
    LockClient a = hazardContext.client(url, "A", TTL);
    LockClient b = hazardContext.client(url, "B", TTL);
    Lease lease = a.lock(JOB).acquireWithin(Duration.ofSeconds(20));
    hazardContext.say("A", "has the lock, token " + lease.token() + ", through a follower");
    cluster.member(leader).pause();
    hazardContext.say("leader", "stands still (SIGSTOP)");
    try {
      askFor(hazardContext, b, TTL.plusMillis(500));
    } finally {
      cluster.member(leader).resume();
    }
    hazardContext.say("leader", "goes on, and finds nothing that could be over");
    askFor(hazardContext, b, AFTERMATH);
    hazardContext.expect(lease.isValid(), "A has the lock still");
    hazardContext.say("B", "has asked all the while, and was never let in");
    lease.close();
    try (Lease next = b.lock(JOB).acquireWithin(Duration.ofSeconds(20))) {
      hazardContext.say("B", "gets the lock when A releases it, token " + next.token());
    }
    hazardContext.conclude("held, as told: exclusion does not hang on leases of etcd");
  }

  private static void askFor(HazardContext hazardContext, LockClient b, Duration time)
      throws InterruptedException {
    double end = hazardContext.seconds() + time.toMillis() / 1000.0;
    while (hazardContext.seconds() < end) {
      try {
        hazardContext.expect(b.lock(JOB).tryAcquire().isEmpty(), "B does not get the lock");
      } catch (StoreUnavailableException e) {
        // There is no leader for a moment.
      }
      hazardContext.pass(BETWEEN);
    }
  }

  private static boolean naiveWrite(HazardContext hazardContext, EtcdCluster cluster) {
    hazardContext.chapter(
        "The naive lock: a key that is made if it is not there, given up after 0.5 s");
    boolean broken = false;
    for (int round = 1; round <= MOST_ROUNDS && !broken; round++) {
      broken = isExecutedLate(hazardContext, cluster, "import " + round);
    }
    return concluded(hazardContext, broken, "locked for nobody, until a lease of 60 s ends");
  }

  private static boolean isExecutedLate(
      HazardContext hazardContext, EtcdCluster cluster, String name) {
    int leader = cluster.leader(0);
    int follower = (leader + 1) % cluster.size();
    NaiveEtcdLock a =
        new NaiveEtcdLock(cluster.member(follower), IMPATIENCE_MILLIS, name, LONG_LEASE_SECONDS);
    NaiveEtcdLock b = new NaiveEtcdLock(cluster.member(follower), 5000, name, LONG_LEASE_SECONDS);
    cluster.member(leader).pause();
    hazardContext.say("leader", "stands still (SIGSTOP)");
    try {
      boolean answered = true;
      try {
        a.lock();
      } catch (UncheckedIOException e) {
        answered = false;
      }
      hazardContext.expect(!answered, "A is not answered");
      hazardContext.say("A", "asks a follower, is not answered, gives up and tells its user so");
      cluster.leaderAfter(leader, follower);
      hazardContext.expect(!b.isHeld(), "the lock is free");
      hazardContext.say("B", "finds the lock free: another member leads, and knows nothing of it");
    } finally {
      cluster.member(leader).resume();
    }
    hazardContext.say("leader", "goes on, and passes on what the follower had sent");
    double end = hazardContext.seconds() + AFTERMATH.toMillis() / 1000.0;
    while (!b.isHeld()) {
      if (hazardContext.seconds() > end) {
        hazardContext.say("B", "was lucky: the leader took the write for its own. Once more");
        return false;
      }
      hazardContext.pass(BETWEEN);
    }
    hazardContext.expect(!b.lock(), "B does not get the lock");
    hazardContext.say("B", "does not get the lock: A has it, who has gone");
    return true;
  }

  private static void mortiseWrite(HazardContext hazardContext, EtcdCluster cluster)
      throws Exception {
    hazardContext.chapter("Mortise over the same members, timeout 0.5 s");
    int leader = cluster.leader(0);
    int follower = (leader + 1) % cluster.size();
    String url = cluster.member(follower).url() + "?timeout=" + IMPATIENCE_MILLIS + "ms";
    LockClient a = hazardContext.client(url, "A", LONG_TTL);
    LockClient b = hazardContext.client(url, "B", LONG_TTL);
    a.lock("mortise-hazard/warm-up").acquireWithin(LONG_TTL).close();
    b.lock("mortise-hazard/warm-up").acquireWithin(LONG_TTL).close();
    cluster.member(leader).pause();
    hazardContext.say("leader", "stands still (SIGSTOP)");
    try {
      boolean told = false;
      try {
        a.lock(IMPORT).tryAcquire();
      } catch (StoreUnavailableException e) {
        told = true;
        hazardContext.say("A", "asks for the lock, and is told: " + e.getMessage());
      }
      hazardContext.expect(told, "A is told that the store does not answer");
      cluster.leaderAfter(leader, follower);
      hazardContext.say("A", "takes its request back by a write, as soon as another member leads");
    } finally {
      cluster.member(leader).resume();
    }
    hazardContext.say("leader", "goes on, and passes on what the follower had sent");
    double since = hazardContext.seconds();
    try (Lease lease = b.lock(IMPORT).acquireWithin(Duration.ofSeconds(20))) {
      double took = hazardContext.seconds() - since;
      hazardContext.expect(took < LONG_TTL.toSeconds() / 2.0, "B does not wait for a TTL");
      hazardContext.say("B", "gets the lock, token " + lease.token());
      hazardContext.pass(Duration.ofSeconds(1));
      hazardContext.expect(lease.isValid(), "B keeps the lock");
    }
    hazardContext.conclude(
        "held, as told: the late request compares a revision that is not there any more");
  }
}
