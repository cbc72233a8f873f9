package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Leaves word for holders that somebody waits for their locks: notes where their sessions look.
 * Guarded by the session.
 */
final class Words {
  private final SessionCore core;
  private final Turns turns;

  /** Holders that were left word lately, so that a poll does not do it again. */
  private final Map<AttemptId, Boolean> noted =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<AttemptId, Boolean> eldest) {
          return size() > 256;
        }
      };

  Words(SessionCore core, Turns turns) {
    this.core = core;
    this.turns = turns;
  }

  /** Tells holders that they are wanted, then goes on. */
  void leave(List<AttemptId> holders, Runnable then) {
    int[] open = {1};
    Runnable one =
        () -> {
          if (--open[0] == 0) {
            then.run();
          }
        };
    for (AttemptId holder : holders) {
      if (holder.session().equals(core.id())) {
        turns.wanted(holder);
      } else if (!noted.containsKey(holder)) {
        noted.put(holder, true);
        open[0]++;
        note(holder, 0, one);
      }
    }
    one.run();
  }

  private void note(AttemptId holder, int tries, Runnable then) {
    core.handle()
        .client()
        .create(
            core.layout().note(holder),
            new byte[0],
            core.acl(),
            CreateMode.EPHEMERAL,
            (rc, path, context, name) ->
                core.guard()
                    .run(
                        () -> {
                          if (core.isOver()) {
                            return;
                          }
                          if (rc == Code.NONODE.intValue() && tries < 2) {
                            core.makeContainers(core.layout().notes(holder.session()));
                            note(holder, tries + 1, then);
                            return;
                          }
                          if (rc != 0 && rc != Code.NODEEXISTS.intValue()) {
                            noted.remove(holder);
                          }
                          then.run();
                        }),
            (Object) null);
  }
}
