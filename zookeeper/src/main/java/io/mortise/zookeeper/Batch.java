package io.mortise.zookeeper;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Several creations and removals as one transaction, and one read of all containers that it puts
 * something into, right behind it, but for those of which that is not needed. Guarded by its
 * session.
 */
final class Batch {
  private final SessionCore core;
  private final List<Work> works;

  /** Those that it makes nodes for. */
  private final List<String> locks = new ArrayList<>();

  /** How many nodes are made of which the container is read, by the lock's path. */
  private final Map<String, Integer> creations = new LinkedHashMap<>();

  private Code code = Code.CONNECTIONLOSS;
  private List<OpResult> results = List.of();
  private List<OpResult> reads = List.of();

  enum Outcome {
    DONE,
    /** Some of it cannot be done, so nothing was. */
    IMPOSSIBLE,
    UNKNOWN
  }

  Batch(SessionCore core, List<Work> works) {
    this.core = core;
    this.works = works;
  }

  List<Work> works() {
    return works;
  }

  /** Those that it makes nodes for. */
  List<String> locks() {
    return locks;
  }

  Outcome outcome() {
    return code == Code.OK
        ? Outcome.DONE
        : results.isEmpty() ? Outcome.UNKNOWN : Outcome.IMPOSSIBLE;
  }

  /** Sends it; then is called under the guard when all is answered. */
  void send(Consumer<Batch> then) {
    List<Op> writes = new ArrayList<>();
    for (Work work : works) {
      if (work instanceof Work.Create create) {
        locks.add(create.lock());
        if (create.reads()) {
          creations.merge(create.lock(), 1, Integer::sum);
        }
        writes.add(
            Op.create(
                create.prefix(),
                NodeData.bytes(create.data()),
                core.acl(),
                CreateMode.EPHEMERAL_SEQUENTIAL));
      } else if (work instanceof Work.Release release) {
        writes.add(release.operation());
      } else if (work instanceof Work.Delete delete) {
        writes.addAll(delete.operations());
      }
    }
    core.handle()
        .client()
        .multi(writes, (rc, path, context, answers) -> written(rc, answers, then), null);
    if (creations.size() == 1) {
      // Most often what a thread gave back together with what it takes.
      core.handle()
          .client()
          .getData(
              creations.keySet().iterator().next(),
              false,
              (rc, path, context, data, stat) ->
                  read(rc == 0 ? List.of(new OpResult.GetDataResult(data, stat)) : null, then),
              null);
    } else if (!creations.isEmpty()) {
      core.handle()
          .client()
          .multi(
              creations.keySet().stream().map(Op::getData).toList(),
              (rc, path, context, answers) -> read(answers, then),
              null);
    }
  }

  private void written(int rc, @Nullable List<OpResult> answers, Consumer<Batch> then) {
    code = Code.get(rc);
    results = answers == null ? List.of() : answers;
    if (creations.isEmpty()) {
      core.guard().run(() -> then.accept(this));
    }
  }

  private void read(@Nullable List<OpResult> answers, Consumer<Batch> then) {
    reads = answers == null ? List.of() : answers;
    core.guard().run(() -> then.accept(this));
  }

  /** Nothing of it was answered. */
  void fail() {
    works.forEach(work -> work.failed(code));
  }

  /** Tells each what was done. Returns those that it turned out to make nodes for besides. */
  List<Work.Create> deliver() {
    Map<String, OpResult> containers = new LinkedHashMap<>();
    int read = 0;
    for (String lock : creations.keySet()) {
      if (read < reads.size()) {
        containers.put(lock, reads.get(read));
      }
      read++;
    }
    List<Work.Create> missing = new ArrayList<>();
    long session = core.handle().client().getSessionId();
    int at = 0;
    for (Work work : works) {
      if (work instanceof Work.Create create) {
        create.then().accept(created(create, results.get(at++), containers.get(create.lock())));
      } else if (work instanceof Work.Release release) {
        if (results.get(at++) instanceof OpResult.SetDataResult given) {
          Work.Create own = release.followed(given.getStat().getEphemeralOwner() == session);
          if (own != null) {
            missing.add(own);
          }
        } else {
          release.ended(Code.OK);
        }
      } else if (work instanceof Work.Delete delete) {
        at += delete.marked() ? 2 : 1;
        delete.then().accept(Code.OK);
      }
    }
    return missing;
  }

  /**
   * A transaction does not tell its number. Where the node is the only one, that of the last change
   * to the container will do as its token: it is that of the node's creation, or of a later removal
   * of an older one, and in either case below that of any later creation.
   */
  private Work.Created created(Work.Create work, OpResult result, @Nullable OpResult container) {
    String path = result instanceof OpResult.CreateResult made ? made.getPath() : "";
    if (!work.reads()) {
      return new Work.Created(Code.OK, path, 0, 0, Work.Created.NOT_READ);
    }
    if (container instanceof OpResult.GetDataResult data) {
      Stat stat = data.getStat();
      int children = stat.getNumChildren();
      boolean alone = children == 1 && creations.getOrDefault(work.lock(), 0) == 1;
      return new Work.Created(
          Code.OK,
          path,
          alone ? stat.getPzxid() : 0,
          NodeData.capacity(data.getData()),
          alone ? 1 : Math.max(2, children));
    }
    return new Work.Created(Code.OK, path, 0, 0, 0);
  }
}
