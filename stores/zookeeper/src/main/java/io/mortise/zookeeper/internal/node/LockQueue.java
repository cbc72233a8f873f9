package io.mortise.zookeeper.internal.node;

import io.mortise.spi.SessionId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The attempts at a lock in order of arrival, and which of them hold: those whose weight fits
 * together with the weights of all before them. All clients compute the same from the same
 * children. A holder holds as long as its node exists, since the number ahead can only fall. Pure.
 *
 * <p>A node is named {@code WEIGHT-SEQ}. The sequence is a signed number of 32 bits that ZooKeeper
 * lets overflow, so two of them are compared by their difference. That is right while no two
 * attempts at one lock are two thousand million apart.
 *
 * <p>A holder that takes less from now on has a mark, {@code narrowed-WEIGHT-SEQ}, beside its node.
 * One list of the names shows all of it. A mark without its node means nothing. Clients of earlier
 * versions skip it, and take the holder for one of the weight that its node tells.
 *
 * <p>The {@link AtLeastMark} of a hold whose node is gone keeps the lock shut: attempts hold only
 * up to the last number that held then. Those behind the hold are not granted any more: the list
 * that told the last number may be older than the end of another hold.
 */
public final class LockQueue {
  /** Far enough from the end for all creations in flight to get numbers. */
  private static final int LAST = Integer.MAX_VALUE - 1_000_000;

  /** Begins the name of a mark. */
  private static final String NARROWED = "narrowed-";

  private final List<QueueNode> queueNodes;
  private final int capacity;
  private final List<AtLeastMark> marks;
  private final List<QueueNode> ended;
  private final int holding;
  private final int grantable;
  private final int holdingOnceOpen;

  /**
   * One node.
   *
   * @param weight that of its attempt, now
   * @param seq its number
   * @param named the weight in the node's name
   */
  public record QueueNode(int weight, int seq, int named) {
    /** The node of an attempt that has the weight in its name. */
    public QueueNode(int weight, int seq) {
      this(weight, seq, weight);
    }

    public String node() {
      return LockQueue.node(named, seq);
    }

    private QueueNode narrowed(Map<Integer, Integer> narrowings) {
      return new QueueNode(Math.min(weight, narrowings.getOrDefault(seq, weight)), seq, named);
    }

    /** Parses a node name; foreign nodes are skipped, as weight 0. */
    public static QueueNode parse(String node) {
      int dash = node.indexOf('-');
      try {
        return new QueueNode(
            Integer.parseInt(node.substring(0, dash)), Integer.parseInt(node.substring(dash + 1)));
      } catch (RuntimeException e) {
        return new QueueNode(0, 0);
      }
    }
  }

  private LockQueue(
      List<QueueNode> queueNodes, int capacity, List<AtLeastMark> marks, List<QueueNode> ended) {
    this.queueNodes = queueNodes;
    this.capacity = capacity;
    this.marks = marks;
    this.ended = ended;
    int held = 0;
    long used = 0;
    for (QueueNode place : queueNodes) {
      used += place.weight();
      if (used > capacity) {
        break;
      }
      held++;
    }
    this.holdingOnceOpen = held;
    int last = held;
    int granted = held;
    for (AtLeastMark mark : marks) {
      if (isShutBy(mark)) {
        last = upTo(mark.last(), last);
        granted = upTo(mark.seq(), granted);
      }
    }
    this.holding = last;
    this.grantable = granted;
  }

  /** How many of the first places have numbers up to this one. */
  private int upTo(int seq, int places) {
    int most = places;
    while (most > 0 && queueNodes.get(most - 1).seq() - seq > 0) {
      most--;
    }
    return most;
  }

  public static LockQueue of(List<String> nodes, int capacity) {
    return of(nodes, capacity, Map.of());
  }

  /**
   * The same without attempts of ended sessions.
   *
   * @param sessionless the numbers of nodes that have outlived their sessions, if they are there
   */
  public static LockQueue of(
      List<String> nodes, int capacity, Map<Integer, SessionId> sessionless) {
    List<QueueNode> queueNodes = new ArrayList<>(nodes.size());
    Map<Integer, Integer> narrowings = new HashMap<>();
    List<AtLeastMark> marks = new ArrayList<>();
    for (String node : nodes) {
      AtLeastMark atLeast = AtLeastMark.parse(node);
      if (atLeast != null) {
        marks.add(atLeast);
        continue;
      }
      boolean isMark = node.startsWith(NARROWED);
      QueueNode place = QueueNode.parse(isMark ? node.substring(NARROWED.length()) : node);
      if (place.weight() > 0 && isMark) {
        narrowings.merge(place.seq(), place.weight(), Math::min);
      } else if (place.weight() > 0) {
        queueNodes.add(place);
      }
    }
    if (!narrowings.isEmpty()) {
      queueNodes.replaceAll(place -> place.narrowed(narrowings));
    }
    queueNodes.sort(BY_AGE);
    List<QueueNode> ended = new ArrayList<>();
    if (!sessionless.isEmpty()) {
      queueNodes.removeIf(place -> isSessionless(place, sessionless, marks) && ended.add(place));
    }
    return new LockQueue(queueNodes, capacity, marks, ended);
  }

  /** Not if its mark is that of another session: then the number was assigned anew. */
  private static boolean isSessionless(
      QueueNode place, Map<Integer, SessionId> sessionless, List<AtLeastMark> marks) {
    SessionId session = sessionless.get(place.seq());
    return session != null
        && marks.stream()
            .filter(mark -> mark.seq() == place.seq())
            .allMatch(mark -> mark.attempt().session().equals(session));
  }

  /** The node name, with the sequence number as {@code %010d} writes it, also after an overflow. */
  public static String node(int weight, int seq) {
    String digits = Integer.toString(seq);
    // A negative number is padded behind its sign; the only one that the server writes has all
    // digits.
    return seq < 0
        ? prefix(weight) + String.format(Locale.ROOT, "%010d", seq)
        : prefix(weight) + "0000000000".substring(digits.length()) + digits;
  }

  /** The mark of a holder that has this weight from now on. */
  public static String narrowed(int weight, int seq) {
    return NARROWED + node(weight, seq);
  }

  /** The part before the sequence number. */
  public static String prefix(int weight) {
    return weight + "-";
  }

  private static final Comparator<QueueNode> BY_AGE = (one, other) -> one.seq() - other.seq();

  /** The nodes that are there, though their sessions have ended. */
  public List<QueueNode> ended() {
    return ended;
  }

  public int size() {
    return queueNodes.size();
  }

  public QueueNode place(int index) {
    return queueNodes.get(index);
  }

  /**
   * Whether no more nodes may be made in a directory: the server counts up to the greatest number,
   * and then repeats it.
   */
  public static boolean isLast(int seq) {
    return seq < 0 || seq >= LAST;
  }

  /** How many attempts hold: the first places of the queue. */
  public int holding() {
    return holding;
  }

  /** How many attempts may be granted the lock, if they were not yet. */
  public int grantable() {
    return grantable;
  }

  /** How many attempts would hold if the lock was not shut. */
  public int holdingOnceOpen() {
    return holdingOnceOpen;
  }

  /** The marks of at-least times, also those of present holds; that of the last start of each. */
  public List<AtLeastMark> lastMarks() {
    return marks.stream()
        .filter(
            mark ->
                marks.stream()
                    .noneMatch(other -> other.seq() == mark.seq() && other.start() > mark.start()))
        .toList();
  }

  /** All marks of one hold; several if an answer was lost. */
  public List<AtLeastMark> marks(int seq) {
    return marks.stream().filter(mark -> mark.seq() == seq).toList();
  }

  /** Whether a mark keeps the lock shut until it is removed. */
  public boolean isShutBy(AtLeastMark mark) {
    return indexOf(mark.seq()) < 0;
  }

  /** Whether the lock is shut, or will be after some hold. */
  public boolean hasAtLeast() {
    return !marks.isEmpty();
  }

  /** The place of a node; -1 if it is not there. */
  public int indexOf(int seq) {
    int low = 0;
    int high = queueNodes.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int difference = queueNodes.get(middle).seq() - seq;
      if (difference == 0) {
        return middle;
      }
      if (difference < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  /**
   * The index of the node whose removal a waiter watches for: for a reader the last before it with
   * which it cannot share, for all others the one just before.
   */
  public int watched(int index, boolean shared) {
    int before = index - 1;
    if (shared) {
      while (before > 0 && queueNodes.get(before).weight() < capacity) {
        before--;
      }
    }
    return before;
  }
}
