package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The container of one lock as a ZooKeeper server keeps it: nodes with numbers, transactions, and
 * one-shot watches. Each method is one request, executed at once.
 */
final class SimulatedQueue {
  private final String path;
  private final int capacity;

  /** Takes an event for a session: of the node with that number, or of the container. */
  private final BiConsumer<Long, WatchEvent> events;

  private final TreeMap<Integer, QueueMember> members = new TreeMap<>();

  /** The owner of each mark, by the mark's name. */
  private final Map<String, Long> marks = new TreeMap<>();

  /** The sessions that watch a node, and those that watch the container's children. */
  private final Map<Integer, List<Long>> watchers = new HashMap<>();

  private final List<Long> childWatchers = new ArrayList<>();
  private int nextSeq;
  private long zxid = 1_000;
  private long pzxid;

  /** An event, and the transaction that caused it; the number is null for the container. */
  record WatchEvent(EventType type, @Nullable Integer seq, long zxid) {}

  /** One node. */
  private static final class QueueMember {
    final int weight;
    final int seq;
    final long owner;
    final long czxid;
    byte[] data;
    long mzxid;

    QueueMember(int weight, int seq, long owner, long czxid, byte[] data) {
      this.weight = weight;
      this.seq = seq;
      this.owner = owner;
      this.czxid = czxid;
      this.data = data;
      this.mzxid = czxid;
    }

    NodeContent content() {
      Stat stat = new Stat();
      stat.setCzxid(czxid);
      stat.setMzxid(mzxid);
      stat.setEphemeralOwner(owner);
      return new NodeContent(data, stat);
    }
  }

  SimulatedQueue(String path, int capacity, BiConsumer<Long, WatchEvent> events) {
    this.path = path;
    this.capacity = capacity;
    this.events = events;
  }

  long zxid() {
    return zxid;
  }

  int size() {
    return members.size() + marks.size();
  }

  // ---- Writes ----

  /** Returns the path of the new node. */
  String create(int weight, byte[] data, long owner) {
    zxid++;
    pzxid = zxid;
    QueueMember made = new QueueMember(weight, nextSeq++, owner, zxid, data);
    members.put(made.seq, made);
    tellChildren();
    return path + "/" + LockQueue.node(weight, made.seq);
  }

  Code write(int seq, byte[] data) {
    QueueMember member = members.get(seq);
    if (member == null) {
      return Code.NONODE;
    }
    zxid++;
    member.data = data;
    member.mzxid = zxid;
    tell(seq, EventType.NodeDataChanged);
    return Code.OK;
  }

  /** Writes a node, and creates a mark, which takes a number too; or does nothing. */
  Code narrow(int seq, byte[] data, String mark, long owner) {
    if (!members.containsKey(seq)) {
      return Code.NONODE;
    }
    if (marks.containsKey(mark)) {
      return Code.NODEEXISTS;
    }
    write(seq, data);
    pzxid = zxid;
    nextSeq++;
    marks.put(mark, owner);
    tellChildren();
    return Code.OK;
  }

  void removeMark(String mark) {
    if (marks.remove(mark) != null) {
      zxid++;
      pzxid = zxid;
      tellChildren();
    }
  }

  Code delete(int seq, boolean marked) {
    if (!members.containsKey(seq)) {
      return Code.NONODE;
    }
    zxid++;
    pzxid = zxid;
    members.remove(seq);
    // The write of a mark and the removal are one transaction: only the first is reported.
    tell(seq, marked ? EventType.NodeDataChanged : EventType.NodeDeleted);
    tellChildren();
    return Code.OK;
  }

  /** The session ends, and its nodes are removed. */
  void end(long owner) {
    forgetWatches(owner);
    for (QueueMember member : List.copyOf(members.values())) {
      if (member.owner == owner) {
        delete(member.seq, false);
      }
    }
    marks.values().removeIf(of -> of == owner);
  }

  private void tell(int seq, EventType type) {
    List<Long> told = watchers.remove(seq);
    if (told != null) {
      told.forEach(session -> events.accept(session, new WatchEvent(type, seq, zxid)));
    }
  }

  private void tellChildren() {
    List<Long> told = List.copyOf(childWatchers);
    childWatchers.clear();
    told.forEach(
        session ->
            events.accept(session, new WatchEvent(EventType.NodeChildrenChanged, null, zxid)));
  }

  // ---- Reads ----

  /** The numbers of the nodes that hold. */
  List<Integer> holders() {
    int holding = LockQueue.of(children(), capacity).holding();
    return members.keySet().stream().limit(holding).toList();
  }

  /** The numbers of the nodes that do not hold. */
  List<Integer> waiters() {
    return members.keySet().stream().skip(holders().size()).toList();
  }

  List<String> children() {
    return Stream.concat(
            members.values().stream().map(member -> LockQueue.node(member.weight, member.seq)),
            marks.keySet().stream())
        .toList();
  }

  /** The container, or a node in it. */
  NodeContent read(String node) {
    if (node.equals(path)) {
      Stat stat = new Stat();
      stat.setNumChildren(size());
      stat.setPzxid(pzxid);
      return new NodeContent(NodeData.capacity(capacity), stat);
    }
    return read(LockQueue.QueueNode.parse(NodeLayout.last(node)).seq());
  }

  NodeContent read(int seq) {
    QueueMember member = members.get(seq);
    return member == null ? NodeContent.NONE : member.content();
  }

  AttemptIndex index() {
    LockQueue queue = LockQueue.of(children(), capacity);
    Map<AttemptId, Integer> index = new HashMap<>();
    for (QueueMember member : members.values()) {
      NodeData.AttemptData attemptData = NodeData.attempt(member.data);
      if (attemptData != null) {
        index.put(attemptData.attempt(), queue.indexOf(member.seq));
      }
    }
    return new AttemptIndex(capacity, queue, index);
  }

  // ---- Watches ----

  void watch(int seq, long session) {
    List<Long> told = watchers.computeIfAbsent(seq, none -> new ArrayList<>());
    if (!told.contains(session)) {
      told.add(session);
    }
  }

  void watchChildren(long session) {
    if (!childWatchers.contains(session)) {
      childWatchers.add(session);
    }
  }

  /** The session's connection has ended. */
  void forgetWatches(long session) {
    watchers.values().forEach(told -> told.remove(session));
    childWatchers.remove(session);
  }

  /** A client with another connection sends its watches, and the last transaction it saw. */
  void watchAgain(List<Integer> seqs, boolean children, long seen, long session) {
    for (int seq : seqs) {
      QueueMember member = members.get(seq);
      if (member == null) {
        events.accept(session, new WatchEvent(EventType.NodeDeleted, seq, zxid));
      } else if (member.mzxid > seen) {
        events.accept(session, new WatchEvent(EventType.NodeDataChanged, seq, zxid));
      } else {
        watch(seq, session);
      }
    }
    if (children && pzxid > seen) {
      events.accept(session, new WatchEvent(EventType.NodeChildrenChanged, null, zxid));
    } else if (children) {
      watchChildren(session);
    }
  }
}
