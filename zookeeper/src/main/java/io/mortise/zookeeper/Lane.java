package io.mortise.zookeeper;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Creates and removes attempts' nodes, in the order in which that was asked for. While a batch is
 * on its way the next one gathers: it then goes as one transaction, since what a request costs is
 * the packet rather than what is in it. When many have gathered it goes at once, so that the server
 * works on one while the answers to the other are given. One alone goes as what it is, which is
 * faster, and tells the transaction's number. A removal that somebody waits for goes alone and at
 * once.
 *
 * <p>With each creation travels a read of the lock's container: it says whether the new node is the
 * only one, and so holds the lock, in the same round trip. A transaction that contains something
 * impossible (a container that is gone) fails as a whole; its parts are then sent one by one.
 * Guarded by its session.
 */
final class Lane {
  private static final int BATCH = 128;

  /** So many that have gathered do not wait for the transaction that is on its way. */
  private static final int ENOUGH = 32;

  /** So many removals do not wait for each other either; more gather, as all does. */
  private static final int HAND_OVERS = 4;

  /** How long a removal that nobody waits for waits for company. */
  private static final long LINGER_NANOS = 500_000;

  private static final int KNOWN = 4_096;

  /** A node's mark that it held: who watches it is next, and need not look who else is there. */
  private static final byte[] RELEASED = {'r'};

  private final SessionCore core;
  private final ArrayDeque<Work> waiting = new ArrayDeque<>();

  /**
   * Hashes of containers that were there, each in the slot of its lower bits. They may be gone when
   * nobody has used them for long, and two may have the same hash: then a creation fails, and is
   * sent again together with that of the container.
   */
  private final int[] known = new int[KNOWN];

  /** How many transactions are on their way: two at most. */
  private int underWay;

  /** How many removals that somebody waits for are on their way besides. */
  private int handOvers;

  private boolean lingering;
  private boolean over;

  Lane(SessionCore core) {
    this.core = core;
  }

  /** What became of a creation. */
  record Created(Code code, String path, long czxid, int capacity, int children) {}

  /** One creation or removal. */
  private sealed interface Work {
    void failed(Code code);

    record Create(String lock, Attempt attempt, String data, Consumer<Created> then)
        implements Work {
      @Override
      public void failed(Code code) {
        then.accept(new Created(code, "", 0, 0, 0));
      }
    }

    record Delete(String path, boolean marked, Consumer<Code> then) implements Work {
      @Override
      public void failed(Code code) {
        then.accept(code);
      }
    }
  }

  void create(String lock, Attempt attempt, String data, Consumer<Created> then) {
    add(new Work.Create(lock, attempt, data, then));
    pump();
  }

  /**
   * Removes a node.
   *
   * @param marked whether somebody waits behind it who is to know that it held
   * @param later whether it may wait a little for what comes next
   */
  void delete(String path, boolean marked, boolean later, Consumer<Code> then) {
    Work.Delete work = new Work.Delete(path, marked, then);
    if (marked && !over && handOvers < HAND_OVERS) {
      // Whoever waits behind it should not wait for what others of this process ask, nor for
      // company. It may go before all that, for it takes nothing from anybody.
      handOvers++;
      single(work, 0, () -> handOvers--);
      return;
    }
    add(work);
    if (!later || marked) {
      pump();
    } else if (underWay == 0 && !lingering) {
      lingering = true;
      core.store().timer().in(LINGER_NANOS, () -> core.guard().run(this::linger));
    }
  }

  private void add(Work work) {
    if (over) {
      work.failed(Code.SESSIONEXPIRED);
    } else {
      waiting.add(work);
    }
  }

  private void linger() {
    lingering = false;
    pump();
  }

  private void pump() {
    while (!waiting.isEmpty() && (underWay == 0 || (underWay == 1 && waiting.size() >= ENOUGH))) {
      underWay++;
      if (waiting.size() == 1) {
        single(waiting.remove(), 0, this::next);
        return;
      }
      List<Work> batch = new ArrayList<>();
      while (batch.size() < BATCH && !waiting.isEmpty()) {
        batch.add(waiting.remove());
      }
      send(batch);
    }
  }

  private void next() {
    underWay--;
    pump();
  }

  private ZooKeeper client() {
    return core.handle().client();
  }

  // ---- One by one ----

  private void single(Work work, int tries, Runnable then) {
    if (work instanceof Work.Create create) {
      create(create, tries, then);
    } else if (work instanceof Work.Delete delete && delete.marked()) {
      client()
          .multi(
              removal(delete),
              (rc, path, context, results) -> step(() -> delete.then().accept(Code.get(rc)), then),
              null);
    } else if (work instanceof Work.Delete delete) {
      client()
          .delete(
              delete.path(),
              -1,
              (rc, path, context) -> step(() -> delete.then().accept(Code.get(rc)), then),
              null);
    }
  }

  private void step(Runnable result, Runnable then) {
    core.guard()
        .run(
            () -> {
              if (!over) {
                result.run();
                then.run();
              }
            });
  }

  private static List<Op> removal(Work.Delete delete) {
    return List.of(Op.setData(delete.path(), RELEASED, -1), Op.delete(delete.path(), -1));
  }

  private void create(Work.Create work, int tries, Runnable then) {
    ensure(work, tries);
    Made made = new Made();
    client()
        .create(
            nodePrefix(work),
            NodeData.bytes(work.data()),
            core.acl(),
            CreateMode.EPHEMERAL_SEQUENTIAL,
            (rc, path, context, name, stat) -> made.set(Code.get(rc), name, stat),
            null);
    client()
        .getData(
            work.lock(),
            false,
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (over) {
                            return;
                          }
                          if (made.code == Code.NONODE && tries < 3) {
                            forget(work.lock());
                            create(work, tries + 1, then);
                            return;
                          }
                          // A node that was made is there, whether or not the container was read.
                          boolean read = rc == 0;
                          work.then()
                              .accept(
                                  new Created(
                                      made.code,
                                      made.name,
                                      made.czxid,
                                      read ? NodeData.capacity(data) : 0,
                                      read ? stat.getNumChildren() : 0));
                          then.run();
                        }),
            null);
  }

  /** What the first of two answers said. Both come on the same thread. */
  private static final class Made {
    Code code = Code.CONNECTIONLOSS;
    String name = "";
    long czxid;

    void set(Code answered, @Nullable String given, @Nullable Stat stat) {
      code = answered;
      name = given == null ? "" : given;
      czxid = stat == null ? 0 : stat.getCzxid();
    }
  }

  private static String nodePrefix(Work.Create work) {
    return work.lock() + "/" + Line.prefix(work.attempt().weight());
  }

  /** The container is made in the same flush, unless it was there before. */
  private void ensure(Work.Create work, int tries) {
    int hash = work.lock().hashCode() | 1;
    if (known[slot(hash)] != hash) {
      known[slot(hash)] = hash;
      if (tries > 0) {
        core.makeContainers(Layout.parent(work.lock()));
      }
      core.makeContainer(work.lock(), NodeData.capacity(work.attempt().capacity()));
    }
  }

  private void forget(String lock) {
    known[slot(lock.hashCode() | 1)] = 0;
  }

  private static int slot(int hash) {
    return (hash >>> 1) & (KNOWN - 1);
  }

  // ---- Many ----

  private void send(List<Work> batch) {
    List<Op> writes = new ArrayList<>();
    Map<String, Integer> creations = new LinkedHashMap<>();
    for (Work work : batch) {
      if (work instanceof Work.Create create) {
        ensure(create, 0);
        creations.merge(create.lock(), 1, Integer::sum);
        writes.add(
            Op.create(
                nodePrefix(create),
                NodeData.bytes(create.data()),
                core.acl(),
                CreateMode.EPHEMERAL_SEQUENTIAL));
      } else if (work instanceof Work.Delete delete && delete.marked()) {
        writes.addAll(removal(delete));
      } else if (work instanceof Work.Delete delete) {
        writes.add(Op.delete(delete.path(), -1));
      }
    }
    Batch sent = new Batch(batch, creations);
    client().multi(writes, (rc, path, context, results) -> written(sent, rc, results), null);
    if (creations.size() == 1) {
      // Most often what a thread gave back together with what it takes.
      client()
          .getData(
              creations.keySet().iterator().next(),
              false,
              (rc, path, context, data, stat) ->
                  core.guard()
                      .run(
                          () ->
                              read(
                                  sent,
                                  rc == 0
                                      ? List.of(new OpResult.GetDataResult(data, stat))
                                      : List.of())),
              null);
    } else if (!creations.isEmpty()) {
      List<Op> reads = creations.keySet().stream().map(Op::getData).toList();
      client()
          .multi(
              reads,
              (rc, path, context, results) ->
                  core.guard().run(() -> read(sent, results == null ? List.of() : results)),
              null);
    }
  }

  /** A transaction on its way. */
  private static final class Batch {
    final List<Work> works;
    final Map<String, Integer> creations;
    Code code = Code.CONNECTIONLOSS;
    List<OpResult> results = List.of();

    Batch(List<Work> works, Map<String, Integer> creations) {
      this.works = works;
      this.creations = creations;
    }
  }

  private void written(Batch batch, int rc, @Nullable List<OpResult> results) {
    batch.code = Code.get(rc);
    batch.results = results == null ? List.of() : results;
    if (batch.creations.isEmpty()) {
      core.guard().run(() -> read(batch, List.of()));
    }
  }

  private void read(Batch batch, List<OpResult> reads) {
    if (over) {
      return;
    }
    if (batch.code == Code.OK) {
      deliver(batch, reads);
      // Whoever is answered now wants something again at once: those go together, where the first
      // of them would go alone, and all others wait for it.
      core.guard().later(() -> core.guard().run(this::next));
    } else if (batch.results.isEmpty()) {
      batch.works.forEach(work -> work.failed(batch.code));
      next();
    } else {
      // Something in it was impossible, and nothing was done.
      batch.creations.keySet().forEach(this::forget);
      oneByOne(new ArrayDeque<>(batch.works));
    }
  }

  private void oneByOne(ArrayDeque<Work> rest) {
    if (rest.isEmpty()) {
      next();
    } else {
      // The first attempt at a container's making may have found nothing to stand on.
      single(rest.remove(), 1, () -> oneByOne(rest));
    }
  }

  private void deliver(Batch batch, List<OpResult> reads) {
    Map<String, OpResult> containers = new LinkedHashMap<>();
    int read = 0;
    for (String lock : batch.creations.keySet()) {
      if (read < reads.size()) {
        containers.put(lock, reads.get(read));
      }
      read++;
    }
    int at = 0;
    for (Work work : batch.works) {
      if (work instanceof Work.Create create) {
        OpResult result = batch.results.get(at++);
        create.then().accept(created(create, result, batch, containers.get(create.lock())));
      } else if (work instanceof Work.Delete delete) {
        at += delete.marked() ? 2 : 1;
        delete.then().accept(Code.OK);
      }
    }
  }

  /**
   * A transaction does not tell its number. Where the node is the only one, that of the last change
   * to the container will do as its token: it is that of the node's creation, or of a later removal
   * of an older one, and in either case below that of any later creation.
   */
  private static Created created(
      Work.Create work, OpResult result, Batch batch, @Nullable OpResult container) {
    String path = result instanceof OpResult.CreateResult made ? made.getPath() : "";
    if (container instanceof OpResult.GetDataResult data) {
      Stat stat = data.getStat();
      int children = stat.getNumChildren();
      boolean alone = children == 1 && batch.creations.getOrDefault(work.lock(), 0) == 1;
      return new Created(
          Code.OK,
          path,
          alone ? stat.getPzxid() : 0,
          NodeData.capacity(data.getData()),
          alone ? 1 : Math.max(2, children));
    }
    return new Created(Code.OK, path, 0, 0, 0);
  }

  // ---- Ending ----

  /** Those who wait are answered by who ends the session. */
  void over() {
    over = true;
    waiting.clear();
  }
}
