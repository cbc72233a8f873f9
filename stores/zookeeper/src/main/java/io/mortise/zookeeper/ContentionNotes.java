package io.mortise.zookeeper;

import io.mortise.internal.queue.BoundedMap;
import io.mortise.spi.AttemptId;
import io.mortise.zookeeper.internal.Countdown;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Leaves notes, in the directory that a holder's session watches, for holders whose locks others
 * want. A holder removes a note when it reads it. A note for a dead or stalled holder goes with the
 * writer's ZooKeeper session; if that was handed in and goes on, the note is removed when the
 * writer's session ends. Guarded by the session.
 */
final class ContentionNotes {
  /** Notes to write before checking which of them still exist. */
  private static final int MANY = 256;

  private final SessionCore core;

  /** Holders that were lately left a note, so that a poll does not repeat it. */
  private final Map<AttemptId, Boolean> noted = new BoundedMap<>(MANY);

  /**
   * Holders whose notes exist and are ours, or may be; kept only in a ZooKeeper session that was
   * handed in.
   */
  private final Set<AttemptId> written = new LinkedHashSet<>();

  private int most = MANY;

  ContentionNotes(SessionCore core) {
    this.core = core;
  }

  /** Tells holders in other sessions that their locks are wanted, then goes on. */
  void leave(List<AttemptId> holders, Runnable then) {
    List<AttemptId> untold =
        holders.stream().filter(holder -> !noted.containsKey(holder)).distinct().toList();
    Countdown inFlight = new Countdown(untold.size(), then);
    for (AttemptId holder : untold) {
      noted.put(holder, true);
      boolean first = !core.connection().isOwn() && written.add(holder);
      note(holder, first, 0, inFlight);
    }
    if (written.size() > most) {
      forgetRead();
    }
  }

  /** The paths of unread notes that this session may have written. */
  List<String> unread() {
    return written.stream().map(core.layout()::note).toList();
  }

  /**
   * Requests are executed in order: a note that was written before this listing and is not in it
   * was read.
   */
  private void forgetRead() {
    most = written.size() + MANY;
    Set<AttemptId> before = Set.copyOf(written);
    core.connection()
        .client()
        .getEphemerals(
            core.layout().allNotes(),
            (rc, context, paths) ->
                core.guard()
                    .run(
                        () -> {
                          if (rc == 0) {
                            Set<String> there = new HashSet<>(paths);
                            written.removeIf(
                                holder ->
                                    before.contains(holder)
                                        && !there.contains(core.layout().note(holder)));
                          }
                          most = written.size() + MANY;
                        }),
            null);
  }

  /**
   * @param first whether an existing note cannot be ours
   */
  private void note(AttemptId holder, boolean first, int tries, Countdown inFlight) {
    core.nodes()
        .create(
            core.layout().note(holder),
            new byte[0],
            CreateMode.EPHEMERAL,
            (code, made) -> {
              if (core.isOver()) {
                return;
              }
              if (code == Code.NONODE && tries < 2) {
                core.makeContainers(core.layout().notes(holder.session()));
                note(holder, first, tries + 1, inFlight);
                return;
              }
              if (code == Code.NODEEXISTS && first) {
                written.remove(holder);
              } else if (code == Code.OK && !core.connection().isOwn()) {
                written.add(holder);
              }
              if (code != Code.OK && code != Code.NODEEXISTS) {
                noted.remove(holder);
              }
              inFlight.less();
            });
  }
}
