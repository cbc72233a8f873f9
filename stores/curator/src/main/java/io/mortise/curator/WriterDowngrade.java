package io.mortise.curator;

import io.mortise.curator.CuratorAttempt.AttemptOperation;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * The downgrade from writer to reader as Curator's users do it, by a reader's node with the
 * writer's number; in one step, so that there is no moment with both or neither. Guarded by the
 * session.
 */
final class WriterDowngrade {
  private final CuratorSession session;
  private final String directory;

  /** The reader's node that may have replaced the writer's; the reply was lost. */
  private @Nullable String reader;

  WriterDowngrade(CuratorSession session, String directory) {
    this.session = session;
    this.directory = directory;
  }

  /** Whether a reader's node may exist unnoticed. */
  boolean isInDoubt() {
    return reader != null;
  }

  /**
   * Replaces the writer's node by the reader's.
   *
   * @param done called when the reader's exists
   * @param lost called when neither exists
   */
  void begin(
      String writer, String wanted, AttemptOperation operation, Runnable done, Runnable lost) {
    List<Op> swap =
        List.of(
            session
                .nodes()
                .createOp(
                    CuratorAttempt.child(directory, wanted),
                    session.note(null),
                    CreateMode.EPHEMERAL),
            Op.delete(CuratorAttempt.child(directory, writer), -1));
    session
        .nodes()
        .multi(
            swap,
            (code, results) -> {
              if (code == Code.OK) {
                reader = null;
                done.run();
              } else if (code == Code.NODEEXISTS || code == Code.NONODE) {
                settle(wanted, operation, done, lost);
              } else {
                reader = wanted;
                operation.fail(code, directory);
              }
            });
  }

  /** An earlier attempt whose reply was lost may have done it. */
  private void settle(String wanted, AttemptOperation operation, Runnable done, Runnable lost) {
    session
        .nodes()
        .stat(
            CuratorAttempt.child(directory, wanted),
            (code, stat) -> {
              if (stat != null && session.owns(stat)) {
                reader = null;
                done.run();
              } else if (stat != null || code == Code.NONODE) {
                lost.run();
              } else {
                operation.fail(code, wanted);
              }
            });
  }

  /** Deletes the node in doubt; runs the action once it is surely gone. */
  void removeReader(AttemptOperation operation, Runnable then) {
    String path = CuratorAttempt.child(directory, String.valueOf(reader));
    session
        .nodes()
        .delete(
            path,
            (code, unused) -> {
              if (code == Code.OK || code == Code.NONODE) {
                reader = null;
                then.run();
              } else {
                operation.fail(code, path);
              }
            });
  }
}
