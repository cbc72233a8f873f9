package io.mortise.zookeeper.internal.node;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The attempts at a lock in the order in which they came, and which of them hold: those whose
 * weight fits together with the weights of all before them. Everybody computes the same from the
 * same children, and who holds once holds for as long as its node stands, for those ahead can only
 * get fewer. Pure.
 *
 * <p>A node is named {@code WEIGHT-SEQ}. The sequence is a signed number of 32 bits that ZooKeeper
 * lets overflow, so two of them are compared by their difference: right for as long as no two
 * attempts at one lock are two thousand million apart.
 */
public final class LockQueue {
  /** Far enough from the end that all who are on their way still get numbers. */
  private static final int LAST = Integer.MAX_VALUE - 1_000_000;

  private final List<QueueNode> queueNodes;
  private final int capacity;
  private final int holding;

  /** One node: the weight of its attempt, and where it stands. */
  public record QueueNode(int weight, int seq) {
    public String node() {
      return LockQueue.node(weight, seq);
    }

    /** Those that are not ours are passed over, as weight 0. */
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

  private LockQueue(List<QueueNode> queueNodes, int capacity) {
    this.queueNodes = queueNodes;
    this.capacity = capacity;
    int held = 0;
    long used = 0;
    for (QueueNode place : queueNodes) {
      used += place.weight();
      if (used > capacity) {
        break;
      }
      held++;
    }
    this.holding = held;
  }

  public static LockQueue of(List<String> nodes, int capacity) {
    List<QueueNode> queueNodes = new ArrayList<>(nodes.size());
    for (String node : nodes) {
      QueueNode place = QueueNode.parse(node);
      if (place.weight() > 0) {
        queueNodes.add(place);
      }
    }
    queueNodes.sort(BY_AGE);
    return new LockQueue(queueNodes, capacity);
  }

  /** As {@code %010d} of a sequence number is written, also of one that has overflowed. */
  public static String node(int weight, int seq) {
    String digits = Integer.toString(seq);
    // A negative one is padded behind its sign; the only one that the server writes has all digits.
    return seq < 0
        ? prefix(weight) + String.format(Locale.ROOT, "%010d", seq)
        : prefix(weight) + "0000000000".substring(digits.length()) + digits;
  }

  /** What stands before the sequence number. */
  public static String prefix(int weight) {
    return weight + "-";
  }

  private static final Comparator<QueueNode> BY_AGE = (one, other) -> one.seq() - other.seq();

  public int size() {
    return queueNodes.size();
  }

  public QueueNode place(int index) {
    return queueNodes.get(index);
  }

  /**
   * Whether no more nodes must be made in a directory: the server counts up to the greatest number,
   * and then gives that one again and again.
   */
  public static boolean isLast(int seq) {
    return seq < 0 || seq >= LAST;
  }

  /** How many hold: the first so many places. */
  public int holding() {
    return holding;
  }

  /** Where a node stands; -1 if it is not there. */
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
   * The index of the one whose leaving a waiter is to hear of: for a reader the last before it with
   * whom it cannot share, for all others the one just before.
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
