package io.mortise.zookeeper;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.RenewalProof;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Opens a session and renews it. The session is a ZooKeeper session with one more node, which holds
 * the beat: a renewal writes it with the version that the last one left, so that of two clones of a
 * process one is refused. What an answer proves is decided by {@link RenewalProof}.
 *
 * <p>The ZooKeeper client sends pings by itself, for as long as its process runs; so a process that
 * does not renew any more, though it runs, has its session closed from this side when its TTL is
 * over. Guarded by its session.
 */
final class SessionRenewal {
  /** A token is a transaction's number, whose upper half counts elections, times 65,536. */
  private static final long MOST_ELECTIONS = 32_000;

  private final SessionCore core;
  private final Ticker ticker;
  private final SessionSpec spec;
  private final String path;
  private final RenewalProof renewalProof;
  private final long ttl;
  private final ArrayDeque<PendingRenewal> waiting = new ArrayDeque<>();
  private SessionPhase phase = SessionPhase.NEW;
  private String lostBecause = "";
  private long tokenBase;
  private @Nullable PendingRenewal opening;
  private @Nullable PendingRenewal current;
  private long timeout;
  private long lastCall;
  private long beat;
  private int version;

  /** Where the session stands. */
  private enum SessionPhase {
    NEW,
    OPENING,
    OPEN,
    OVER
  }

  /** One renewal on its way. */
  private static final class PendingRenewal {
    final long next;
    final List<Long> seen;
    final CompletableFuture<Renewal> answer = new CompletableFuture<>();
    long sentAt;
    long connection;

    PendingRenewal(long next, List<Long> seen, long now) {
      this.next = next;
      this.seen = seen;
      this.sentAt = now;
    }
  }

  SessionRenewal(SessionCore core, Ticker ticker, SessionSpec spec, String path, Duration relay) {
    this.core = core;
    this.ticker = ticker;
    this.spec = spec;
    this.path = path;
    this.renewalProof =
        new RenewalProof(core.guard(), core.store().timer(), ticker, relay, spec.ttl());
    this.ttl = spec.ttl().toNanos();
  }

  /** What is added to the number of a transaction in tokens. */
  long tokenBase() {
    return tokenBase;
  }

  boolean isOpen() {
    return phase == SessionPhase.OPEN;
  }

  boolean isNew() {
    return phase == SessionPhase.NEW;
  }

  boolean isOver() {
    return phase == SessionPhase.OVER;
  }

  CompletableFuture<Renewal> renew(long previous, long next, List<Long> seen) {
    PendingRenewal asked = new PendingRenewal(next, List.copyOf(seen), ticker.nanos());
    core.guard().run(() -> begin(asked, previous));
    if (!asked.answer.isDone()) {
      long requestTimeout = Math.max(ttl / 3, 2 * renewalProof.relay() + 500_000_000);
      core.store()
          .timer()
          .in(requestTimeout, () -> asked.answer.complete(unknown("No answer to a renewal.")));
    }
    return asked.answer;
  }

  private void begin(PendingRenewal asked, long previous) {
    boolean known = phase == SessionPhase.OPENING || phase == SessionPhase.OPEN;
    if (phase == SessionPhase.OVER) {
      answer(asked, new Renewal.Lost(lostBecause));
    } else if (phase == SessionPhase.NEW && previous != 0) {
      answer(asked, Refusals.SESSION_EXPIRED);
    } else if (known && beat != previous && beat != asked.next) {
      answer(asked, Refusals.RENEWED_BY_ANOTHER);
    } else {
      lastCall = asked.sentAt;
      if (phase == SessionPhase.NEW) {
        phase = SessionPhase.OPENING;
        beat = asked.next;
        opening = asked;
        core.guard().afterUnlock(() -> core.connect(renewalProof.wantedMillis()));
        watchDeadline();
      } else {
        waiting.add(asked);
        advance();
      }
    }
  }

  // ---- Opening ----

  /** The handle is there, and up. */
  void connected() {
    if (phase == SessionPhase.OPENING) {
      timeout = core.connection().client().getSessionTimeout() * 1_000_000L;
      if (timeout < ttl) {
        tooShort();
      } else {
        findTokenBase();
      }
    } else if (phase == SessionPhase.OPEN) {
      advance();
    }
  }

  private void tooShort() {
    StoreUnfitException cause =
        new StoreUnfitException(
            "Store '%s' lets sessions live for %d ms at most, less than the TTL of %d ms. Raise maxSessionTimeout, or choose a shorter TTL."
                .formatted(core.display(), timeout / 1_000_000, spec.ttl().toMillis()));
    failOpening(new Renewal.Unknown(cause));
  }

  private void failOpening(Renewal answer) {
    PendingRenewal failed = opening;
    opening = null;
    phase = SessionPhase.NEW;
    if (failed != null) {
      answer(failed, answer);
    }
    waiting.forEach(other -> answer(other, answer));
    waiting.clear();
    core.disconnect();
  }

  private void findTokenBase() {
    TokenEpoch.find(
        core.connection().client(),
        core.layout(),
        core.acl(),
        missing -> core.guard().run(() -> core.makeContainers(missing)),
        (code, base) ->
            core.guard()
                .run(
                    () -> {
                      if (phase == SessionPhase.OPENING && code == Code.OK) {
                        tokenBase = base;
                        makeNode(0);
                      } else if (phase == SessionPhase.OPENING) {
                        notMade(code, core.layout().epoch());
                      }
                    }));
  }

  private void makeNode(int tries) {
    core.connection()
        .client()
        .create(
            path,
            NodeData.member(spec, beat),
            core.acl(),
            CreateMode.EPHEMERAL,
            (rc, given, context, name, stat) ->
                core.guard().run(() -> nodeMade(Code.get(rc), stat, tries)),
            null);
  }

  private void nodeMade(Code code, @Nullable Stat stat, int tries) {
    if (phase != SessionPhase.OPENING) {
      return;
    }
    switch (code) {
      case OK -> {
        version = 0;
        if (stat != null && (stat.getCzxid() + tokenBase) >>> Integer.SIZE > MOST_ELECTIONS) {
          failOpening(
              new Renewal.Unknown(
                  new StoreUnfitException(
                      "Store '%s' has elected a leader so often that tokens would overflow. Move to a new ensemble."
                          .formatted(core.display()))));
        } else {
          opened(stat == null ? 0 : stat.getMtime());
        }
      }
      case NONODE -> {
        if (tries > 3) {
          failOpening(unknown("Cannot make '" + path + "'."));
        } else {
          core.makeContainers(NodeLayout.parent(path));
          makeNode(tries + 1);
        }
      }
      case NODEEXISTS -> takeNode();
      default -> notMade(code, path);
    }
  }

  private void notMade(Code code, String node) {
    switch (code) {
      case CONNECTIONLOSS -> {
        // Again when the connection is back.
      }
      case SESSIONEXPIRED -> core.over("the ZooKeeper session expired");
      default ->
          failOpening(
              new Renewal.Unknown(
                  new StoreUnfitException(
                      "Store '%s' does not let us make '%s': %s."
                          .formatted(core.display(), node, code))));
    }
  }

  /** The answer to our own creation may have been lost. */
  private void takeNode() {
    core.connection()
        .client()
        .getData(
            path,
            false,
            (rc, given, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (phase != SessionPhase.OPENING
                              || rc == Code.CONNECTIONLOSS.intValue()) {
                            return;
                          }
                          if (rc == 0
                              && stat.getEphemeralOwner()
                                  == core.connection().client().getSessionId()) {
                            version = stat.getVersion();
                            opened(stat.getMtime());
                          } else {
                            core.over("another process has the same session");
                          }
                        }),
            null);
  }

  private void opened(long mtime) {
    core.connection()
        .client()
        .addWatch(
            core.layout().notes(spec.id()),
            core.connection(),
            AddWatchMode.PERSISTENT_RECURSIVE,
            (rc, given, context) -> core.guard().run(() -> watched(Code.get(rc), mtime)),
            null);
  }

  private void watched(Code code, long mtime) {
    PendingRenewal first = opening;
    if (phase != SessionPhase.OPENING || first == null || code == Code.CONNECTIONLOSS) {
      return;
    }
    if (code != Code.OK) {
      failOpening(
          new Renewal.Unknown(
              new StoreUnfitException(
                  "Store '%s' cannot watch for good: %s. ZooKeeper 3.6 or later is needed."
                      .formatted(core.display(), code))));
      return;
    }
    phase = SessionPhase.OPEN;
    opening = null;
    first.connection = core.connection().connectionNumber();
    if (core.connection().isOwn()) {
      // The ZooKeeper session is younger than the request.
      renewalProof.sessionStarted(first.sentAt);
      finish(first, mtime);
    } else {
      first.sentAt = ticker.nanos();
      prove(first, mtime);
    }
    advance();
  }

  // ---- Renewing ----

  private void advance() {
    while (phase == SessionPhase.OPEN && current == null && !waiting.isEmpty()) {
      PendingRenewal next = latest();
      if (core.connection().isUp()) {
        current = next;
        send(next);
      } else {
        answer(next, unknown("The connection to store '" + core.display() + "' is down."));
      }
    }
  }

  /**
   * The engine asks again while it has no answer, often if it takes long to connect. Only what it
   * asked last is sent: the answer to that is one to all that were asked before, too.
   */
  private PendingRenewal latest() {
    PendingRenewal next = waiting.removeLast();
    List<PendingRenewal> before = List.copyOf(waiting);
    waiting.clear();
    var unused =
        next.answer.thenAccept(renewal -> before.forEach(beat -> beat.answer.complete(renewal)));
    return next;
  }

  private void send(PendingRenewal sent) {
    sent.sentAt = ticker.nanos();
    sent.connection = core.connection().connectionNumber();
    core.connection()
        .client()
        .setData(
            path,
            NodeData.member(spec, sent.next),
            version,
            (rc, given, context, stat) -> core.guard().run(() -> written(sent, Code.get(rc), stat)),
            null);
  }

  private void written(PendingRenewal sent, Code code, @Nullable Stat stat) {
    if (phase != SessionPhase.OPEN) {
      return;
    }
    switch (code) {
      case OK -> accepted(sent, stat);
      case BADVERSION -> whoseBeat(sent);
      case NONODE -> core.over("the session's node was removed");
      case SESSIONEXPIRED -> core.over("the ZooKeeper session expired");
      default -> done(sent, unknown("A renewal was not answered: " + code + "."));
    }
  }

  private void done(PendingRenewal sent, Renewal answer) {
    answer(sent, answer);
    current = null;
    advance();
  }

  /** The answer to an earlier try with the same beat may have been lost. */
  private void whoseBeat(PendingRenewal sent) {
    core.connection()
        .client()
        .getData(
            path,
            false,
            (rc, given, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          NodeData.SessionData process = NodeData.member(data);
                          if (phase != SessionPhase.OPEN) {
                            return;
                          }
                          if (rc == 0 && process != null && process.beat() == sent.next) {
                            accepted(sent, stat);
                          } else if (rc == 0) {
                            done(sent, Refusals.RENEWED_BY_ANOTHER);
                          } else {
                            done(sent, unknown("A renewal was not answered."));
                          }
                        }),
            null);
  }

  private void accepted(PendingRenewal sent, @Nullable Stat stat) {
    beat = sent.next;
    long mtime = 0;
    if (stat != null) {
      version = stat.getVersion();
      mtime = stat.getMtime();
    }
    core.inbox().acknowledge(sent.seen);
    prove(sent, mtime);
    current = null;
    advance();
  }

  private void prove(PendingRenewal sent, long mtime) {
    renewalProof.confirm(
        core.connection(),
        sent.sentAt,
        sent.connection,
        proven -> {
          if (proven && phase == SessionPhase.OPEN) {
            finish(sent, mtime);
          } else {
            answer(sent, unknown("The connection was lost during a renewal."));
          }
        });
  }

  private void finish(PendingRenewal sent, long mtime) {
    core.whenSettled(() -> answer(sent, core.inbox().renewed(mtime * 1000)));
  }

  private Renewal.Unknown unknown(String why) {
    return new Renewal.Unknown(new StoreUnavailableException(why));
  }

  private void answer(PendingRenewal sent, Renewal renewal) {
    core.guard().afterUnlock(() -> sent.answer.complete(renewal));
  }

  // ---- Ending ----

  private void watchDeadline() {
    long left = lastCall + ttl - ticker.nanos();
    core.store()
        .timer()
        .in(
            Math.max(0, left),
            () ->
                core.guard()
                    .run(
                        () -> {
                          if (phase == SessionPhase.OVER || phase == SessionPhase.NEW) {
                            return;
                          }
                          if (ticker.nanos() - lastCall >= ttl) {
                            core.over("it was not renewed within its TTL");
                          } else {
                            watchDeadline();
                          }
                        }));
  }

  /** For good. */
  void over(String why) {
    if (phase == SessionPhase.OVER) {
      return;
    }
    phase = SessionPhase.OVER;
    lostBecause = why;
    Renewal lost = new Renewal.Lost(why);
    if (opening != null) {
      waiting.add(opening);
    }
    if (current != null) {
      waiting.add(current);
    }
    waiting.forEach(open -> answer(open, lost));
    waiting.clear();
    opening = null;
    current = null;
  }
}
