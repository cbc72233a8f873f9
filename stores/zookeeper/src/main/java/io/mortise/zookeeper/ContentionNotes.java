package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.zookeeper.internal.Countdown;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Leaves notes for holders whose locks others wait for, where their sessions look. A holder removes
 * a note as it reads it. One that has ended, or is held up, does not; then the note goes with the
 * ZooKeeper session of who wrote it, or, if that was handed in and goes on, is removed when who
 * wrote it ends. Guarded by the session.
 */
final class ContentionNotes {
  /** So many more notes are written until it is looked which of them are still there. */
  private static final int MANY = 256;

  private final SessionCore core;

  /** Holders that a note was left for lately, so that a poll does not do it again. */
  private final Map<AttemptId, Boolean> noted =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Boolean> eldest) {
          return size() > MANY;
        }
      };

  /**
   * Whose notes are there and ours, or may be; kept only in a ZooKeeper session that was handed in.
   */
  private final Set<AttemptId> written = new LinkedHashSet<>();

  private int most = MANY;

  ContentionNotes(SessionCore core) {
    this.core = core;
  }

  /** Tells holders of other sessions that they are wanted, then goes on. */
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

  /** The notes that this session may have written and nobody has read, by their paths. */
  List<String> unread() {
    return written.stream().map(core.layout()::note).toList();
  }

  /**
   * Requests are executed in order: what was written before this look and is not there was read.
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
   * @param first whether a note that is there already cannot be ours
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
