package io.mortise.zookeeper;

import io.mortise.StoreUnfitException;
import io.mortise.spi.Renewal;
import io.mortise.support.internal.session.Refusals;
import io.mortise.zookeeper.internal.SessionLayout.StepCallback;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import io.mortise.zookeeper.internal.node.TokenEpoch;
import java.time.Instant;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The node of a session, which holds its beat. A renewal writes it with the version that the last
 * one left, so one of two clones of a process is refused. Guarded by its session.
 */
final class SessionNode {
  /** A token is a transaction's number, whose upper half counts elections, times 65,536. */
  private static final long MOST_ELECTIONS = 32_000;

  private final SessionCore core;
  private final String path;
  private long tokenBase;

  /** When the data of these servers began; empty if unknown. */
  private String ensemble = "";

  private int version;

  SessionNode(SessionCore core) {
    this.core = core;
    this.path = core.layout().session(core.id());
  }

  /** The number that is added to a transaction's number in tokens. */
  long tokenBase() {
    return tokenBase;
  }

  // ---- Opening ----

  /** Reads the token epoch, creates the node, and watches for notes. */
  void open(long beat, StepCallback then) {
    TokenEpoch.find(
        core.nodes().client(),
        core.layout(),
        core.acl(),
        missing -> core.guard().run(() -> core.makeContainers(missing)),
        (code, epoch) ->
            core.guard()
                .run(
                    () -> {
                      if (code == Code.OK) {
                        begin(epoch, beat, then);
                      } else {
                        notMade(code, core.layout().epoch(), then);
                      }
                    }));
  }

  private void begin(@Nullable Stat epoch, long beat, StepCallback then) {
    tokenBase = TokenEpoch.base(epoch);
    ensemble =
        epoch == null ? "" : Instant.ofEpochMilli(epoch.getCtime()) + ", " + epoch.getCzxid();
    String conflict = core.store().conflict(ensemble);
    if (conflict != null) {
      then.refused(new Renewal.Unknown(new StoreUnfitException(conflict)));
    } else if (TokenEpoch.isOfAnotherLayout(epoch)) {
      then.refused(
          unfit(
              "has nodes of another version of Mortise, as the data of '%s' say. Use one version in all processes, or another namespace."
                  .formatted(core.layout().epoch())));
    } else {
      make(beat, 0, then);
    }
  }

  private void make(long beat, int tries, StepCallback then) {
    if (core.isOver()) {
      // With a client that was handed in, the node would stay.
      return;
    }
    core.nodes()
        .create(
            path,
            NodeData.member(core.spec(), beat),
            CreateMode.EPHEMERAL,
            (code, made) -> {
              if (made != null) {
                made(made.stat(), then);
              } else if (code == Code.NONODE && tries <= 3) {
                core.makeContainers(NodeLayout.parent(path));
                make(beat, tries + 1, then);
              } else if (code == Code.NODEEXISTS) {
                take(then);
              } else {
                notMade(code, path, then);
              }
            });
  }

  private void made(Stat stat, StepCallback then) {
    if ((stat.getCzxid() + tokenBase) >>> Integer.SIZE > MOST_ELECTIONS) {
      then.refused(
          unfit(
              "has elected a leader so often that tokens would overflow. Move to a new ensemble."));
    } else {
      watch(stat, then);
    }
  }

  private void notMade(Code code, String node, StepCallback then) {
    switch (code) {
      case CONNECTIONLOSS, SESSIONEXPIRED -> then.failed(code);
      default -> then.refused(unfit("does not let us make '" + node + "': " + code + "."));
    }
  }

  private Renewal.Unknown unfit(String why) {
    return new Renewal.Unknown(new StoreUnfitException("Store '" + core.display() + "' " + why));
  }

  /** The answer to our own creation may have been lost. */
  private void take(StepCallback then) {
    core.nodes()
        .stat(
            path,
            (code, stat) -> {
              if (code == Code.CONNECTIONLOSS) {
                then.failed(code);
              } else if (stat != null && stat.getEphemeralOwner() == core.zooKeeperSession()) {
                watch(stat, then);
              } else {
                then.refused(new Renewal.Lost("another process has the same session"));
              }
            });
  }

  private void watch(Stat stat, StepCallback then) {
    version = stat.getVersion();
    core.nodes()
        .watchTree(
            core.layout().notes(core.id()),
            core.connection(),
            (code, watched) -> {
              switch (code) {
                case OK -> then.succeeded(stat.getMtime());
                case CONNECTIONLOSS -> then.failed(code);
                default ->
                    then.refused(
                        unfit(
                            "cannot watch for good: "
                                + code
                                + ". ZooKeeper 3.6 or later is needed."));
              }
            });
  }

  // ---- Renewing ----

  /** Writes a beat, if no other process has written one since. */
  void write(long beat, StepCallback then) {
    core.nodes()
        .write(
            path,
            NodeData.member(core.spec(), beat),
            version,
            (code, stat) -> {
              if (stat != null) {
                accepted(stat, then);
              } else if (code == Code.BADVERSION) {
                whoseBeat(beat, then);
              } else if (code == Code.NONODE) {
                then.refused(new Renewal.Lost("the session's node was removed"));
              } else {
                then.failed(code);
              }
            });
  }

  private void accepted(Stat stat, StepCallback then) {
    version = stat.getVersion();
    // The old ensemble still answers, which says nothing against this session.
    var unused = core.store().conflict(ensemble);
    then.succeeded(stat.getMtime());
  }

  /**
   * The answer to an earlier attempt with the same beat may have been lost. It is written once
   * more: contenders count from the last write, the engine from the last request.
   */
  private void whoseBeat(long beat, StepCallback then) {
    core.nodes()
        .read(
            path,
            (code, read) -> {
              NodeData.SessionData process = read == null ? null : NodeData.member(read.data());
              if (read == null) {
                then.failed(code);
              } else if (process != null && process.beat() == beat) {
                version = read.stat().getVersion();
                write(beat, then);
              } else {
                then.refused(Refusals.RENEWED_BY_ANOTHER);
              }
            });
  }
}
