package io.mortise.zookeeper.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.time.Ticker;
import io.mortise.zookeeper.internal.node.AtLeastMark;
import io.mortise.zookeeper.internal.node.AttemptIndex;
import io.mortise.zookeeper.internal.node.LockQueue;
import io.mortise.zookeeper.internal.node.MultiRead.NodeContent;
import io.mortise.zookeeper.internal.node.NodeData;
import io.mortise.zookeeper.internal.node.NodeLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
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

  /** ZooKeeper sessions that go on, though others have ended the sessions that they belong to. */
  private final Set<Long> silent = new HashSet<>();

  /** The owner of each mark, by the mark's name. */
  private final Map<String, Long> marks = new TreeMap<>();

  /** The sessions that watch a node, and those that watch the container's children. */
  private final Map<Integer, List<Long>> watchers = new HashMap<>();

  private final List<Long> childWatchers = new ArrayList<>();

  /** When each mark of an at-least time was made. */
  private final Map<AtLeastMark, Long> leasts = new HashMap<>();

  /** Times that keep the lock shut, by the true clock. */
  private final List<ShutTime> shutTimes = new ArrayList<>();

  private final Ticker ticker;
  private boolean isTimed;
  private int nextSeq;
  private long zxid = 1_000;
  private long pzxid;

  /** An event, and the transaction that caused it; the number is null for the container. */
  record WatchEvent(EventType type, @Nullable Integer seq, long zxid) {}

  /**
   * No attempt behind this number may be granted until then; except beside the hold, if that has
   * ended by silence: it looks alive to those who do not know.
   */
  private record ShutTime(long until, int last, boolean bySilence) {
    boolean keepsOut(int seq, long now, int lastBeside) {
      return until > now && seq > last && !(bySilence && seq <= lastBeside);
    }
  }

  /** One node. */
  private static final class QueueMember {
    final int weight;
    final int seq;
    final long owner;
    final long czxid;
    byte[] data;
    long mzxid;
    int version;

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
      stat.setVersion(version);
      return new NodeContent(data, stat);
    }
  }

  SimulatedQueue(String path, int capacity, Ticker ticker, BiConsumer<Long, WatchEvent> events) {
    this.path = path;
    this.capacity = capacity;
    this.ticker = ticker;
    this.events = events;
  }

  long zxid() {
    return zxid;
  }

  int size() {
    return members.size() + marks.size() + leasts.size();
  }

  /** The number of nodes that go with their sessions. */
  int ephemerals() {
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
    member.version++;
    tell(seq, EventType.NodeDataChanged);
    return Code.OK;
  }

  /** Writes a node, and creates a mark, which takes a number too; or does nothing. */
  Code narrow(int seq, NodeContent read, String mark, long owner) {
    Code code = check(seq, read);
    if (code != Code.OK || marks.containsKey(mark)) {
      return code == Code.OK ? Code.NODEEXISTS : code;
    }
    write(seq, read.data());
    pzxid = zxid;
    nextSeq++;
    marks.put(mark, owner);
    tellChildren();
    return Code.OK;
  }

  private Code check(int seq, NodeContent read) {
    QueueMember member = members.get(seq);
    if (member == null) {
      return Code.NONODE;
    }
    return member.version == read.version() ? Code.OK : Code.BADVERSION;
  }

  /** Signs a hold's node and the container, and makes a mark; or does nothing. */
  Code keepShut(int seq, NodeContent read, AtLeastMark mark, @Nullable AtLeastMark replaced) {
    Code code = check(seq, read);
    if (code != Code.OK || leasts.containsKey(mark)) {
      return code == Code.OK ? Code.NODEEXISTS : code;
    }
    if (replaced != null && !leasts.containsKey(replaced)) {
      return Code.NONODE;
    }
    write(seq, NodeData.timed(read.data()));
    isTimed = true;
    pzxid = zxid;
    nextSeq++;
    leasts.put(mark, ticker.nanos());
    leasts.keySet().removeIf(old -> old.equals(replaced));
    tellChildren();
    return Code.OK;
  }

  /** Removes a hold's node, and changes its marks. */
  Code end(int seq, QueueEffect.MarkChange change) {
    List<AtLeastMark> removed =
        leasts.keySet().stream()
            .filter(mark -> change.removed().contains(path + "/" + mark.name()))
            .toList();
    String added = change.added();
    if (added == null) {
      removed.forEach(leasts::remove);
    }
    Code code = delete(seq, false);
    if (added != null && code == Code.OK && !removed.isEmpty()) {
      nextSeq++;
      leasts.put(AtLeastMark.parse(NodeLayout.last(added)), leasts.remove(removed.get(0)));
      tellChildren();
    }
    return code;
  }

  /** Removes marks. */
  Code open(List<AtLeastMark> over) {
    boolean some = leasts.keySet().removeAll(over);
    if (some) {
      zxid++;
      pzxid = zxid;
      tellChildren();
    }
    return some ? Code.OK : Code.NONODE;
  }

  /** Whether the end of this attempt's hold would not keep the lock shut. */
  boolean lacksMark(AttemptId attempt) {
    return members.values().stream()
            .anyMatch(member -> attempt.equals(NodeData.attempt(member.data).attempt()))
        && leasts.keySet().stream().noneMatch(mark -> mark.attempt().equals(attempt));
  }

  boolean isShut() {
    return leasts.keySet().stream().anyMatch(mark -> !members.containsKey(mark.seq()));
  }

  /** Whether an attempt may be granted, as far as at-least times of ended holds tell. */
  boolean mayBeGranted(AttemptId attempt) {
    long now = ticker.nanos();
    return members.values().stream()
        .filter(member -> attempt.equals(NodeData.attempt(member.data).attempt()))
        .allMatch(
            member ->
                shutTimes.stream()
                    .noneMatch(time -> time.keepsOut(member.seq, now, lastBesideSilent())));
  }

  /**
   * Notes for how long the end of a hold leaves the lock shut. Those that held at an earlier end go
   * on.
   */
  private void ends(int seq, int last, boolean bySilence) {
    if (silent.contains(members.get(seq).owner)) {
      // It has ended before; a time that it starts late is not promised to anybody. Those that
      // hold beside it go on.
      shutTimes.add(new ShutTime(0, last, true));
      return;
    }
    int lastOfAll = shutTimes.stream().mapToInt(ShutTime::last).reduce(last, Math::max);
    leasts.entrySet().stream()
        .filter(least -> least.getKey().seq() == seq)
        .max(Comparator.comparingLong(least -> least.getKey().start()))
        .ifPresent(least -> shutTimes.add(new ShutTime(until(least), lastOfAll, bySilence)));
  }

  /** A time of a millisecond is not judged. */
  private static long until(Map.Entry<AtLeastMark, Long> least) {
    Duration length = least.getKey().length();
    return least.getValue() + (length.toMillis() > 1 ? length.toNanos() : 0);
  }

  void removeMark(String mark) {
    if (marks.remove(mark) != null) {
      zxid++;
      pzxid = zxid;
      tellChildren();
    }
  }

  /** A hold ends, and its node is that of the session's next attempt. */
  void reuse(int seq, byte[] data) {
    ends(seq, seq - 1, false);
    write(seq, data);
  }

  Code delete(int seq, boolean marked) {
    if (!members.containsKey(seq)) {
      return Code.NONODE;
    }
    zxid++;
    pzxid = zxid;
    ends(seq, Math.max(seq, lastHolder()), false);
    members.remove(seq);
    // The write of a mark and the removal are one transaction: only the first is reported.
    tell(seq, marked ? EventType.NodeDataChanged : EventType.NodeDeleted);
    tellChildren();
    return Code.OK;
  }

  /** Another session ends this one, whose nodes stay for the time being. */
  void silence(long owner) {
    int last = lastHolder();
    for (QueueMember member : members.values()) {
      if (member.owner == owner) {
        ends(member.seq, Math.max(member.seq, last), true);
      }
    }
    silent.add(owner);
  }

  /** The nodes of sessions that others have ended. */
  Map<Integer, SessionId> sessionless() {
    Map<Integer, SessionId> found = new HashMap<>();
    for (QueueMember member : members.values()) {
      if (silent.contains(member.owner)) {
        found.put(member.seq, NodeData.attempt(member.data).attempt().session());
      }
    }
    return found;
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
    silent.remove(owner);
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

  /** The last number that holds, for a session that knows of all ended ones or of none. */
  private int lastHolder() {
    return holders().stream().reduce(lastBesideSilent(), Math::max);
  }

  private int lastBesideSilent() {
    int holding = LockQueue.of(children(), capacity).holding();
    return members.keySet().stream().limit(holding).reduce(Integer.MIN_VALUE, Math::max);
  }

  private LockQueue living() {
    return LockQueue.of(children(), capacity, sessionless());
  }

  private List<Integer> firstLiving(int count) {
    Set<Integer> ended = sessionless().keySet();
    return members.keySet().stream().filter(seq -> !ended.contains(seq)).limit(count).toList();
  }

  /** The numbers of the nodes that hold. */
  List<Integer> holders() {
    return firstLiving(living().holding());
  }

  /** The numbers of the nodes whose attempts may be granted. */
  List<Integer> grantable() {
    return firstLiving(living().grantable());
  }

  /** The numbers of the nodes that do not hold. */
  List<Integer> waiters() {
    List<Integer> living = firstLiving(members.size());
    return living.subList(holders().size(), living.size());
  }

  List<String> children() {
    List<String> all = new ArrayList<>(marks.keySet());
    members.values().forEach(member -> all.add(LockQueue.node(member.weight, member.seq)));
    leasts.keySet().forEach(mark -> all.add(mark.name()));
    return all;
  }

  /** The container, or a node in it. */
  NodeContent read(String node) {
    if (node.equals(path)) {
      Stat stat = new Stat();
      stat.setNumChildren(size());
      stat.setPzxid(pzxid);
      byte[] data = NodeData.capacity(capacity);
      return new NodeContent(isTimed ? NodeData.timed(data) : data, stat);
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
