package io.mortise.zookeeper;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Creates and removes attempts' nodes, in the order in which that was asked for. While a batch is
 * on its way the next one gathers: it then goes as one transaction, since what a request costs is
 * the packet rather than what is in it. When many have gathered it goes at once, so that the server
 * works on some while the answers to others are given. One alone goes as what it is, which is
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

  /** So many that have gathered do not wait for the transactions that are on their way. */
  private static final int ENOUGH = 16;

  /** So many transactions are on their way at most. */
  private static final int MOST = 4;

  /** So many removals do not wait for each other either; more gather, as all does. */
  private static final int HAND_OVERS = 4;

  /** How long a removal that nobody waits for waits for company. */
  private static final long LINGER_NANOS = 500_000;

  private final SessionCore core;
  private final Containers containers;
  private final ArrayDeque<Work> waiting = new ArrayDeque<>();

  /** Removals that somebody may follow, by the lock's path. */
  private final Map<String, Work.Release> unsent = new HashMap<>();

  /** How many transactions are on their way. */
  private int underWay;

  /** How many removals that somebody waits for are on their way besides. */
  private int handOvers;

  private boolean lingering;
  private boolean over;

  Lane(SessionCore core) {
    this.core = core;
    this.containers = new Containers(core);
  }

  /**
   * Makes a node.
   *
   * @param reads whether its container is read with it
   */
  void create(
      String lock, Attempt attempt, String data, boolean reads, Consumer<Work.Created> then) {
    add(new Work.Create(lock, attempt, data, reads, then));
    pump();
  }

  /**
   * Removes a node.
   *
   * @param later whether it may wait a little for what comes next
   */
  void delete(String path, boolean later, Consumer<Code> then) {
    add(new Work.Delete(path, false, then));
    if (later) {
      linger();
    } else {
      pump();
    }
  }

  /**
   * Removes the node of a hold that somebody waits for.
   *
   * @param marked whether somebody waits behind it who is to know that it held
   */
  void handOver(String path, boolean marked, Consumer<Code> then) {
    Work.Delete work = new Work.Delete(path, marked, then);
    if (!over && handOvers < HAND_OVERS) {
      // Whoever waits behind it should not wait for what others of this process ask, nor for
      // company. It may go before all that, for it takes nothing from anybody.
      handOvers++;
      single(work, 0, () -> handOvers--);
    } else {
      add(work);
      pump();
    }
  }

  /** Removes the node of an exclusive hold, a little later, unless somebody follows. */
  void release(String lock, String path, Attempt attempt, Work.Ended then) {
    Work.Release work = new Work.Release(lock, path, attempt, then);
    if (!over) {
      unsent.put(lock, work);
    }
    add(work);
    linger();
  }

  /** The exclusive hold on a lock whose node an attempt may take over, if there is one. */
  @Nullable Attempt leaving(String lock) {
    Work.Release work = unsent.get(lock);
    return work == null ? null : work.attempt();
  }

  /** Gives it the node of the {@link #leaving} hold; of one more node if that has gone. */
  void follow(String lock, Attempt attempt, String data, Consumer<Work.Created> then) {
    Work.Release before = Objects.requireNonNull(unsent.remove(lock));
    before.follow(new Work.Create(lock, attempt, data, true, then));
    pump();
  }

  private void linger() {
    if (underWay == 0 && !lingering) {
      lingering = true;
      core.store()
          .timer()
          .in(
              LINGER_NANOS,
              () ->
                  core.guard()
                      .run(
                          () -> {
                            lingering = false;
                            pump();
                          }));
    }
  }

  private void add(Work work) {
    if (over) {
      work.failed(Code.SESSIONEXPIRED);
    } else {
      waiting.add(work);
    }
  }

  private void pump() {
    while (!waiting.isEmpty() && (underWay == 0 || (underWay < MOST && waiting.size() >= ENOUGH))) {
      underWay++;
      if (waiting.size() == 1) {
        single(take(), 0, this::next);
        return;
      }
      List<Work> batch = new ArrayList<>();
      while (batch.size() < BATCH && !waiting.isEmpty()) {
        batch.add(take());
      }
      send(batch);
    }
  }

  private Work take() {
    Work work = waiting.remove();
    if (work instanceof Work.Release release) {
      unsent.remove(release.lock(), release);
    }
    return work;
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
    } else if (work instanceof Work.Release release) {
      release(release, then);
    } else if (work instanceof Work.Delete delete && delete.marked()) {
      client()
          .multi(
              delete.operations(),
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

  private void release(Work.Release work, Runnable then) {
    Work.Create next = work.next();
    if (next == null) {
      client()
          .delete(
              work.path(),
              -1,
              (rc, path, context) -> step(() -> work.ended(Code.get(rc)), then),
              null);
      return;
    }
    client()
        .setData(
            work.path(),
            NodeData.bytes(next.data()),
            -1,
            (rc, path, context, stat) -> step(() -> followed(work, next, Code.get(rc), stat, then)),
            null);
  }

  private void followed(
      Work.Release work, Work.Create next, Code code, @Nullable Stat stat, Runnable then) {
    switch (code) {
      case OK -> {
        boolean ours = stat != null && stat.getEphemeralOwner() == client().getSessionId();
        if (work.followed(ours) == null) {
          then.run();
        } else {
          create(next, 0, then);
        }
      }
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONMOVED, SESSIONEXPIRED -> {
        work.failed(code);
        then.run();
      }
      default ->
          // It has gone, or may not be written to.
          client()
              .delete(
                  work.path(),
                  -1,
                  (rc, path, context) ->
                      step(
                          () -> {
                            work.ended(Code.get(rc));
                            create(next, 0, then);
                          }),
                  null);
    }
  }

  private void step(Runnable result, Runnable then) {
    step(
        () -> {
          result.run();
          then.run();
        });
  }

  private void step(Runnable step) {
    core.guard()
        .run(
            () -> {
              if (!over) {
                step.run();
              }
            });
  }

  private void create(Work.Create work, int tries, Runnable then) {
    containers.ensure(work, tries > 0);
    boolean reads = work.reads() || tries > 0;
    Made made = new Made();
    client()
        .create(
            work.prefix(),
            NodeData.bytes(work.data()),
            core.acl(),
            CreateMode.EPHEMERAL_SEQUENTIAL,
            (rc, path, context, name, stat) -> {
              made.set(Code.get(rc), name, stat);
              if (!reads) {
                core.guard().run(() -> made(work, tries, made, Work.Created.NOT_READ, 0, then));
              }
            },
            null);
    if (reads) {
      client()
          .getData(
              work.lock(),
              false,
              (rc, path, context, data, stat) -> {
                // A node that was made is there, whether or not the container was read.
                int children = rc == 0 ? stat.getNumChildren() : 0;
                int capacity = rc == 0 ? NodeData.capacity(data) : 0;
                core.guard().run(() -> made(work, tries, made, children, capacity, then));
              },
              null);
    }
  }

  private void made(
      Work.Create work, int tries, Made made, int children, int capacity, Runnable then) {
    if (over) {
      return;
    }
    if (made.code == Code.NONODE && tries < 3) {
      containers.forget(work.lock());
      create(work, tries + 1, then);
      return;
    }
    work.then().accept(new Work.Created(made.code, made.name, made.czxid, capacity, children));
    then.run();
  }

  /** What the creation was answered; a read behind it is answered on the same thread. */
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

  // ---- Many ----

  private void send(List<Work> works) {
    works.forEach(
        work -> {
          if (work instanceof Work.Create create) {
            containers.ensure(create, false);
          }
        });
    new Batch(core, works).send(this::answered);
  }

  private void answered(Batch batch) {
    if (over) {
      return;
    }
    switch (batch.outcome()) {
      case DONE -> {
        waiting.addAll(batch.deliver());
        // Whoever is answered now wants something again at once: those go together, where the
        // first of them would go alone, and all others wait for it.
        core.guard().later(() -> core.guard().run(this::next));
      }
      case UNKNOWN -> {
        batch.fail();
        next();
      }
      case IMPOSSIBLE -> {
        // Something in it was, and nothing was done.
        batch.locks().forEach(containers::forget);
        oneByOne(new ArrayDeque<>(batch.works()));
      }
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

  // ---- Ending ----

  /** Those who wait are answered by who ends the session. */
  void over() {
    over = true;
    waiting.clear();
    unsent.clear();
  }
}
