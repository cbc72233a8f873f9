package io.mortise.quorum;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Votes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process that takes one lock again and again from a running quorum store, as the engine does but
 * without its optimisations: it renews, believes no longer than it may, and ends attempts in doubt.
 */
final class SimClient {
  static final Duration TTL = Duration.ofMinutes(10);
  static final LockName LOCK = LockName.of("x");

  /** One attempt in that many is not retried if the lock is held. */
  private static final int TRY_ONE_IN = 3;

  private final QuorumSimulation world;
  private final SimNetwork network;
  final List<SimMember.RemoteMember> remoteMembers;
  private final QuorumLockStore store;
  private @Nullable StoreSession session;
  private long beat;
  private long pending;
  private boolean renewing;
  private boolean renewAgain;
  private @Nullable Long renewedAt;
  private final List<Long> seen = new ArrayList<>();
  private boolean dead;

  /** It retries until it has the lock. */
  boolean insists;

  /** One time in that many: how often it ends a hold, or requests it again. */
  private final int keeps;

  private final int polls;

  private long attempts;
  private ClientPhase clientPhase = ClientPhase.IDLE;
  private @Nullable AttemptId attempt;
  private @Nullable SessionId proof;
  private @Nullable Votes votes;
  private long tokensBefore;
  private boolean underWay;

  private enum ClientPhase {
    IDLE,
    ASKING,
    HOLDING,
    ENDING
  }

  SimClient(
      QuorumSimulation world,
      SimNetwork network,
      List<SimMember> members,
      QuorumRules rules,
      int keeps,
      int polls) {
    this.world = world;
    this.keeps = keeps;
    this.polls = polls;
    this.network = network;
    this.remoteMembers = members.stream().map(SimMember::link).toList();
    int lateOneIn = network.oneOf(2, 4, 10, 30, 100);
    remoteMembers.forEach(link -> link.simConnection.lateOneIn = lateOneIn);
    this.store =
        QuorumLockStore.over(
            List.<LockStore>copyOf(remoteMembers),
            // No real time in this world: the simulated network answers for silent members.
            new QuorumOptions(Duration.ofMinutes(1), TTL),
            rules,
            network.time);
  }

  /** Its process is killed. */
  void die() {
    dead = true;
    clientPhase = ClientPhase.IDLE;
    remoteMembers.forEach(link -> link.simConnection.cut = true);
    store.close();
    remoteMembers.forEach(SimMember.RemoteMember::close);
  }

  void close() {
    store.close();
  }

  // ---- The session ----

  private void open() {
    SessionId id = SessionId.random(new Random(network.random.nextLong()));
    StoreSession opened =
        store.open(
            new SessionSpec(id, TTL, new ClientLabel("host", 1, "sim")), notifications -> {});
    session = opened;
    beat = 0;
    pending = 0;
    renewing = false;
    renewedAt = null;
    seen.clear();
    opened.onSuspectedRestart(() -> network.after(network.upTo(Duration.ofMillis(1)), this::renew));
    renew();
  }

  void renew() {
    StoreSession mine = session;
    if (dead || mine == null) {
      return;
    }
    if (renewing) {
      renewAgain = true;
      return;
    }
    renewing = true;
    renewAgain = false;
    if (pending == 0) {
      pending = beat + 1 + network.random.nextInt(1000);
    }
    long sent = network.now();
    long next = pending;
    List<Long> told = List.copyOf(seen);
    mine.renew(beat, next, told)
        .whenComplete(
            (renewal, failure) -> {
              if (mine == session && !dead) {
                renewing = false;
                renewed(renewal, sent, next, told);
              }
            });
  }

  private void renewed(Renewal renewal, long sent, long next, List<Long> told) {
    network.tell(this, renewal);
    if (renewal instanceof Renewal.Renewed renewed) {
      beat = next;
      pending = 0;
      renewedAt = sent;
      seen.removeAll(told);
      for (Renewal.NumberedNotification numberedNotification : renewed.notifications()) {
        seen.add(numberedNotification.id());
        boolean gone = numberedNotification.notification() instanceof SessionNotification.HoldEnded;
        if (gone
            && numberedNotification.notification().attempt().equals(attempt)
            && clientPhase != ClientPhase.IDLE) {
          clientPhase = ClientPhase.ENDING;
        }
      }
      if (renewed.more() || renewAgain) {
        renew();
      }
    } else if (renewal instanceof Renewal.Lost) {
      session = null;
      clientPhase = ClientPhase.IDLE;
      underWay = false;
    } else {
      network.after(Duration.ofSeconds(20), this::renew);
    }
  }

  @Nullable SessionId id() {
    return session == null ? null : session.id();
  }

  private boolean isLive() {
    return renewedAt != null && renewedAt + TTL.toNanos() - network.now() > 0;
  }

  /**
   * Whether it acts as the holder now: by the votes alone, which have to suffice. (The engine also
   * requires its session to be alive.)
   */
  boolean believes() {
    if (dead || clientPhase != ClientPhase.HOLDING || votes == null) {
      return false;
    }
    OptionalLong from = votes.countedFrom();
    return from.isPresent() && from.getAsLong() + TTL.toNanos() - network.now() > 0;
  }

  // ---- The lock ----

  /** Takes its next step, if any. */
  void act(boolean wantsLocks) {
    if (dead) {
      return;
    }
    if (session == null) {
      open();
    } else if (!underWay && clientPhase == ClientPhase.IDLE && wantsLocks && isLive()) {
      attempt = new AttemptId(session.id(), ++attempts);
      proof = null;
      votes = null;
      clientPhase = ClientPhase.ASKING;
      tokensBefore = world.highestToken();
      ask();
    } else if (!underWay && clientPhase == ClientPhase.ASKING) {
      if (wantsLocks && (insists || network.random.nextBoolean())) {
        ask();
      } else {
        clientPhase = ClientPhase.ENDING;
      }
    } else if (clientPhase == ClientPhase.HOLDING
        && (!wantsLocks || network.oneIn(keeps) || !believes())) {
      clientPhase = ClientPhase.ENDING;
    } else if (!underWay && clientPhase == ClientPhase.HOLDING && network.oneIn(polls)) {
      ask();
    } else if (!underWay && clientPhase == ClientPhase.ENDING) {
      end();
    }
  }

  private void ask() {
    AttemptId asked = attempt;
    underWay = true;
    Request request =
        new Request.Acquire(LOCK, asked, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, proof);
    session.submit(request, once(reply -> answered(asked, reply)));
  }

  private Consumer<Reply> once(Consumer<Reply> sink) {
    AtomicBoolean answered = new AtomicBoolean();
    return reply -> {
      if (answered.getAndSet(true)) {
        world.answeredTwice();
      }
      sink.accept(reply);
    };
  }

  /** An operator, at another client, closes this one's hold. */
  void evictThrough(SimClient other) {
    AttemptId held = attempt;
    if (clientPhase == ClientPhase.HOLDING && held != null && !other.dead) {
      network.tell(this, "is evicted");
      var unused = other.store.evict(LOCK, held, Eviction.CLOSE);
    }
  }

  private void answered(AttemptId asked, Reply reply) {
    network.tell(this, reply);
    if (!asked.equals(attempt) || dead) {
      return;
    }
    underWay = false;
    if (clientPhase == ClientPhase.ENDING || clientPhase == ClientPhase.IDLE) {
      return;
    }
    if (reply instanceof Reply.Granted granted) {
      boolean first = clientPhase == ClientPhase.ASKING;
      votes = granted.votes();
      clientPhase = ClientPhase.HOLDING;
      if (!believes()) {
        clientPhase = ClientPhase.ENDING;
      } else if (first) {
        world.granted(granted.token(), tokensBefore);
      }
    } else if (reply instanceof Reply.Busy busy) {
      Reply.Holder holder = busy.holder();
      if (clientPhase == ClientPhase.HOLDING) {
        clientPhase = ClientPhase.ENDING;
      } else if (holder != null && holder.sessionLeft().isZero()) {
        SessionId suspect = holder.attempt().session();
        var unused =
            store
                .judge(suspect)
                .whenComplete(
                    (verdict, failure) -> {
                      if (verdict instanceof SessionVerdict.SessionEnded && asked.equals(attempt)) {
                        proof = suspect;
                      }
                    });
      } else if (onlyTries() && !insists) {
        // As the engine does: its end is not requested.
        clientPhase = ClientPhase.IDLE;
      }
    } else {
      clientPhase = ClientPhase.ENDING;
    }
  }

  private void end() {
    AttemptId asked = attempt;
    underWay = true;
    network.tell(this, "ends", asked);
    session.submit(
        new Request.Abandon(LOCK, asked),
        once(
            reply -> {
              if (asked.equals(attempt) && !dead) {
                underWay = false;
                if (!(reply instanceof Reply.Failed)) {
                  clientPhase = ClientPhase.IDLE;
                }
              }
            }));
  }

  private boolean onlyTries() {
    return attempts % TRY_ONE_IN == 0;
  }

  /** How many finished attempts its session keeps. */
  int remembered() {
    return session == null ? 0 : ((QuorumSession) session).remembered();
  }

  boolean isIdle() {
    return clientPhase == ClientPhase.IDLE && !underWay;
  }

  @Override
  public String toString() {
    return id() + " " + clientPhase + (believes() ? " believes" : "");
  }
}
