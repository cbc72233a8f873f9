package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.zookeeper.Attempt.State;
import io.mortise.zookeeper.Reads.Node;
import io.mortise.zookeeper.Turn.Job;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who holds a lock, and has those who wait called.
 *
 * <p><b>In a short line</b> the children are listed: two reads, and the answer can say who holds.
 * Who comes second reads and watches the number before its own only: of two nodes, that one holds.
 *
 * <p><b>In a long line</b> nobody lists. Sequence numbers have no gaps when they are given, so a
 * newcomer watches the number before its own; if that one is gone already, it lists once. A holder
 * that knows that many wait marks its node in the same transaction that removes it: whoever watches
 * it hears of the mark instead of the removal, and knows that it is the first. So a hand-over costs
 * one small read, however many wait. Who hears of a removal without a mark (in a short line, of a
 * waiter that left, of a session that ended) lists once, and watches the next one before it.
 *
 * <p><b>Nothing is believed</b> before the own node was read: it must be there, and be owned by
 * this very session. The first who waits knows that the one before it holds. It reads its own node
 * at once, and watches it too, so that it holds as soon as it hears that the holder has gone: it
 * would have heard before if its own node had. Guarded by the session.
 */
final class Looks {
  /** Up to so many children are listed by whoever arrives. */
  static final int SHORT = 64;

  private static final int TOLD = 64;

  private final SessionCore core;
  private final Turns turns;
  private final Words words;

  private int underWay;

  Looks(SessionCore core, Turns turns) {
    this.core = core;
    this.turns = turns;
    this.words = new Words(core, turns);
  }

  /** How many looks may yet bring news. */
  int underWay() {
    return underWay;
  }

  /** Notes to holders that this session has to remove if its ZooKeeper session goes on. */
  List<String> notes() {
    return words.unread();
  }

  private ZooKeeper client() {
    return core.handle().client();
  }

  // ---- Arriving ----

  /**
   * A new node that is not the only one. Who is the second, or comes to a long line, looks at the
   * number before its own only; of two, that one holds.
   */
  void arrived(Turn turn, Job job, Attempt attempt, int children) {
    boolean second = children == 2;
    if ((!second && children <= SHORT) || !attempt.isExclusive() || !attempt.queues) {
      lookFor(turn, job);
      return;
    }
    int before = attempt.seq - 1;
    if (second) {
      watchOwn(turn, attempt, before, 0);
    }
    watch(
        turn,
        List.of(attempt),
        Line.node(attempt.weight(), before),
        before,
        node -> {
          NodeData.Entry entry = NodeData.attempt(node.data());
          Stat stat = node.stat();
          if (stat != null && !second) {
            queued(turn, job, attempt, children - 1, null);
          } else if (stat != null && entry != null) {
            behindHolder(turn, job, attempt, entry, stat);
          } else {
            lookFor(turn, job);
          }
        });
  }

  private void behindHolder(Turn turn, Job job, Attempt attempt, NodeData.Entry holder, Stat stat) {
    words.leave(
        List.of(holder.attempt()), () -> queued(turn, job, attempt, 1, holder(holder, stat)));
  }

  private Reply.Holder holder(NodeData.Entry entry, Stat stat) {
    return new Reply.Holder(entry.attempt(), core.tokenRank(stat.getCzxid()) << 16, entry.ttl());
  }

  /** The next look that begins answers this request. */
  void lookFor(Turn turn, Job job) {
    turn.asker = job;
    look(turn);
  }

  private void queued(
      Turn turn, Job job, Attempt attempt, int ahead, Reply.@Nullable Holder holder) {
    turns.answer(
        job, new Reply.Queued(core.attempt(attempt.number), ahead, holder, core.askAgain()));
    turns.finish(turn);
  }

  // ---- Watching ----

  /** Then is told what the node is, which is watched from now on if it is there. */
  private void watch(Turn turn, List<Attempt> behind, String node, int seq, Consumer<Node> then) {
    turn.watch(behind, seq);
    client()
        .getData(
            turn.path + "/" + node,
            core.handle(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (core.isOver()) {
                            return;
                          }
                          if (rc != 0) {
                            // Nobody will call them.
                            turn.called(seq);
                          }
                          then.accept(rc == 0 ? new Node(data, stat) : Node.NONE);
                        }),
            null);
  }

  /**
   * The first who waits hears if its own node goes, or if somebody comes behind it. So when it
   * hears that the holder's node has gone, it holds, and knows whether the lock is wanted: over one
   * connection, what is watched is told in the order in which it happened.
   *
   * @param behind how many are known to stand behind it
   */
  private void watchOwn(Turn turn, Attempt attempt, int holder, int behind) {
    long connection = core.handle().connection();
    client()
        .getData(
            turn.node(attempt),
            core.handle(),
            (rc, path, context, data, stat) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection)
                              && rc == 0
                              && core.isOurs(new Node(data, stat), attempt)) {
                            turn.next(attempt, holder, stat.getCzxid());
                            if (behind > 0) {
                              turn.behindNext(attempt, behind);
                            }
                          }
                        }),
            null);
    if (behind > 0) {
      return;
    }
    client()
        .getChildren(
            turn.path,
            core.handle(),
            (int rc, String path, Object context, @Nullable List<String> children) ->
                core.guard()
                    .run(
                        () -> {
                          if (isSame(connection) && children != null) {
                            turn.behindNext(attempt, Math.max(0, children.size() - 2));
                          }
                        }),
            null);
  }

  /** Whether nothing that is watched since then can have gone untold. */
  private boolean isSame(long connection) {
    return !core.isOver() && core.handle().isUp() && core.handle().connection() == connection;
  }

  /** The node with this number was removed, or marked. */
  void changed(Turn turn, EventType type, int seq) {
    Turn.Next next = turn.nextAfter(seq);
    turn.happened(seq);
    List<Attempt> concerned = turn.called(seq);
    if (concerned.isEmpty()) {
      return;
    }
    Attempt only = concerned.get(0);
    if (type == EventType.NodeDeleted
        && next != null
        && next.behind() != Turn.Next.UNKNOWN
        && concerned.equals(List.of(next.attempt()))
        && !only.leaving) {
      turns.grant(turn, only, next.czxid(), next.behind());
      announce(turn, only);
      return;
    }
    boolean alone = concerned.size() == 1 && only.isExclusive() && !turn.looking;
    if (alone && type == EventType.NodeDataChanged) {
      confirm(turn, only, Line.node(Mode.SHARERS, seq));
    } else if (alone && turn.asker == null) {
      succeed(turn, only);
    } else {
      look(turn);
    }
  }

  /** What it watched has gone, and may have held: if it is the first by now, it holds. */
  private void succeed(Turn turn, Attempt attempt) {
    turn.looking = true;
    underWay++;
    View view = new View(null, false);
    Reads.line(
        client(),
        turn.path,
        turn.node(attempt),
        (children, own) ->
            core.guard()
                .run(
                    () -> {
                      if (!core.isOver()) {
                        succeeded(turn, view, attempt, children, own);
                      }
                    }));
  }

  private void succeeded(
      Turn turn, View view, Attempt attempt, @Nullable List<String> children, Node own) {
    Stat stat = own.stat();
    if (children == null) {
      turn.lookAgain = true;
      looked(turn);
      return;
    }
    Line line = Line.of(children, attempt.capacity());
    boolean waits = turn.waiting.containsKey(attempt.number) && !attempt.leaving;
    if (waits && stat != null && line.indexOf(attempt.seq) == 0 && core.isOurs(own, attempt)) {
      turns.grant(turn, attempt, stat.getCzxid(), line.size() - 1);
      announce(turn, attempt);
      looked(turn);
    } else {
      listed(turn, view, Code.OK, children);
    }
  }

  /** Whom it watched has held and gone: it is the first, if it is still there. */
  private void confirm(Turn turn, Attempt attempt, String before) {
    turn.looking = true;
    underWay++;
    Reads.nodes(
        client(),
        List.of(turn.node(attempt), turn.path, turn.path + "/" + before),
        nodes ->
            core.guard()
                .run(
                    () -> {
                      if (core.isOver()) {
                        return;
                      }
                      Stat own = nodes == null ? null : nodes.get(0).stat();
                      Stat line = nodes == null ? null : nodes.get(1).stat();
                      if (nodes == null || line == null || nodes.get(2).stat() != null) {
                        turn.lookAgain = true;
                      } else if (attempt.state() == State.WAITING && !attempt.leaving) {
                        if (own == null || !core.isOurs(nodes.get(0), attempt)) {
                          turns.vanished(turn, attempt);
                        } else {
                          turns.grant(turn, attempt, own.getCzxid(), line.getNumChildren() - 1);
                          announce(turn, attempt);
                        }
                      }
                      looked(turn);
                    }));
  }

  /** Whoever asks just now gets an answer, everybody else news. */
  private void announce(Turn turn, Attempt attempt) {
    Job current = turn.current;
    if (current != null
        && current.request instanceof Request.Acquire
        && !current.isAnswered()
        && current.attempt().equals(core.attempt(attempt.number))) {
      turns.answer(current, turns.granted(attempt));
    } else {
      turns.tellGranted(attempt);
    }
  }

  // ---- Looking ----

  /** Lists the line, and does for each of our attempts what follows from it. */
  void look(Turn turn) {
    if (turn.looking) {
      turn.lookAgain = true;
      return;
    }
    turn.looking = true;
    underWay++;
    View view = new View(turn.asker, turn.watchesAll);
    turn.asker = null;
    client()
        .getChildren(
            turn.path,
            view.watching ? core.handle() : null,
            (rc, path, context, children) ->
                core.guard()
                    .run(
                        () -> {
                          if (!core.isOver()) {
                            listed(turn, view, Code.get(rc), children);
                          }
                        }),
            null);
  }

  /** One look, and what it found. */
  private static final class View {
    /** Who is answered by it. */
    final @Nullable Job asker;

    /** Whether every change of the line is told from now on. */
    final boolean watching;

    final List<Attempt> missing = new ArrayList<>();
    final List<Attempt> holding = new ArrayList<>();
    Line line = Line.of(List.of(), 1);

    /** Whether the first who waits is ours. */
    boolean waits;

    /** How many holders were read. */
    int heads;

    Reply.@Nullable Holder holder;

    View(@Nullable Job asker, boolean watching) {
      this.asker = asker;
      this.watching = watching;
    }
  }

  private @Nullable Attempt asking(Turn turn, View view) {
    return view.asker == null ? null : turn.waiting.get(view.asker.attempt().number());
  }

  private void listed(Turn turn, View view, Code code, @Nullable List<String> children) {
    if (code != Code.OK && code != Code.NONODE) {
      failed(turn, view);
      return;
    }
    if (turn.waiting.isEmpty()) {
      conclude(turn, view);
      return;
    }
    int capacity = turn.waiting.values().iterator().next().capacity();
    Line line = Line.of(children == null ? List.of() : children, capacity);
    view.line = line;
    Map<Integer, List<Attempt>> behind = new LinkedHashMap<>();
    for (Attempt attempt : turn.waiting.values()) {
      int index = line.indexOf(attempt.seq);
      if (index < 0) {
        view.missing.add(attempt);
      } else if (index < line.holding()) {
        view.holding.add(attempt);
      } else if (attempt.queues) {
        view.waits |= index == line.holding();
        int before = line.watched(index, attempt.isShared());
        if (!turn.watches(attempt, line.place(before).seq())) {
          if (index == 1 && attempt.isExclusive()) {
            watchOwn(turn, attempt, line.place(before).seq(), line.size() - 2);
          }
          behind.computeIfAbsent(before, unused -> new ArrayList<>()).add(attempt);
        }
      }
    }
    behind.forEach((before, waiters) -> watchOne(turn, line.place(before), waiters));
    // For permits, any change may be the turn of the first who waits.
    boolean all = capacity != Mode.SHARERS && view.waits;
    turn.lookAgain |= all && !view.watching;
    turn.watchesAll = all;
    boolean asked = asking(turn, view) != null;
    view.heads = view.waits || asked ? Math.min(line.holding(), TOLD) : 0;
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < view.heads; i++) {
      paths.add(turn.path + "/" + line.place(i).node());
    }
    view.holding.forEach(attempt -> paths.add(turn.node(attempt)));
    Reads.nodes(
        client(),
        paths,
        nodes ->
            core.guard()
                .run(
                    () -> {
                      if (core.isOver()) {
                        return;
                      }
                      if (nodes == null) {
                        failed(turn, view);
                      } else {
                        seen(turn, view, nodes);
                      }
                    }));
  }

  private void watchOne(Turn turn, Line.Place place, List<Attempt> behind) {
    watch(
        turn,
        behind,
        place.node(),
        place.seq(),
        node -> {
          if (node.stat() == null) {
            look(turn);
          }
        });
  }

  private void seen(Turn turn, View view, List<Node> nodes) {
    for (Attempt attempt : view.missing) {
      if (turn.waiting.containsKey(attempt.number)) {
        turns.vanished(turn, attempt);
      }
    }
    int othersWait = view.line.size() - view.line.holding();
    int at = view.heads;
    for (Attempt attempt : view.holding) {
      Node node = nodes.get(at++);
      Stat stat = node.stat();
      if (!turn.waiting.containsKey(attempt.number)) {
        continue;
      }
      if (stat == null || !core.isOurs(node, attempt)) {
        turns.vanished(turn, attempt);
      } else {
        turns.grant(turn, attempt, stat.getCzxid(), othersWait);
        if (attempt.capacity() != Mode.SHARERS) {
          // Whoever watches it becomes the first who waits.
          client().setData(turn.node(attempt), node.data(), -1, (rc, p, c, s) -> {}, null);
        }
        announce(turn, attempt);
      }
    }
    Attempt asking = asking(turn, view);
    boolean tries = asking != null && !asking.queues;
    List<AttemptId> untold = new ArrayList<>();
    for (int i = 0; i < view.heads; i++) {
      NodeData.Entry entry = NodeData.attempt(nodes.get(i).data());
      Stat stat = nodes.get(i).stat();
      if (entry != null && stat != null) {
        if (view.holder == null) {
          view.holder = holder(entry, stat);
        }
        if (view.waits || tries) {
          untold.add(entry.attempt());
        }
      }
    }
    words.leave(untold, () -> conclude(turn, view));
  }

  /** Answers who asked, if it has not been answered by what was found. */
  private void conclude(Turn turn, View view) {
    Job asker = view.asker;
    Attempt attempt = asking(turn, view);
    if (asker != null && attempt == null) {
      // Granted, and answered; or it has vanished.
      turns.answer(
          asker,
          new Reply.Refused(
              asker.attempt(), Reply.Why.ENDED, "Somebody removed the attempt's node."));
      turns.finish(turn);
    } else if (asker != null && attempt != null && attempt.queues) {
      queued(turn, asker, attempt, Math.max(0, view.line.indexOf(attempt.seq)), view.holder);
    } else if (asker != null && attempt != null) {
      Reply.Holder holder = view.holder;
      turns
          .departures()
          .withdraw(
              turn,
              attempt,
              () -> {
                turns.answer(asker, new Reply.Busy(asker.attempt(), holder, core.askAgain()));
                turns.finish(turn);
              });
    }
    looked(turn);
  }

  private void failed(Turn turn, View view) {
    Job asker = view.asker;
    if (asker != null) {
      turns.fail(asker, true, "the connection was lost.");
      turns.finish(turn);
    }
    // Looked at again once there is a connection.
    turn.lookAgain = false;
    looked(turn);
  }

  private void looked(Turn turn) {
    turn.looking = false;
    underWay--;
    if (turn.lookAgain || turn.asker != null) {
      turn.lookAgain = false;
      look(turn);
    }
    turns.advance(turn);
    core.settled();
  }
}
