package io.mortise.internal.table;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** A lock's record in one piece, with all its holders and waiters. */
public final class LockDocument extends LockRecord {
  /** In order of grant, but rotated where more hold than one step may look at. */
  final Map<AttemptId, HoldEntry> holders = new LinkedHashMap<>();

  /** By their tickets. */
  final TreeMap<Long, WaiterEntry> queue = new TreeMap<>();

  /** The tickets of the waiters. */
  final Map<AttemptId, Long> tickets = new HashMap<>();

  /** All ends, in a store whose records remember more than the last. */
  final Map<AttemptId, EndedAttempt> ends = new HashMap<>();

  /** Of a lock that nobody has used. */
  public LockDocument(LockName name, int capacity) {
    super(name, capacity);
  }

  /** An equal document, which shares nothing that changes. */
  LockDocument copy() {
    LockDocument copy = new LockDocument(name, capacity);
    copy.used = used;
    copy.lastToken = lastToken;
    copy.nextTicket = nextTicket;
    copy.waiters = waiters;
    copy.closedUntil = closedUntil;
    copy.touched = touched;
    copy.lastEnd = lastEnd;
    holders.forEach((attempt, hold) -> copy.holders.put(attempt, hold.copy()));
    copy.queue.putAll(queue);
    copy.tickets.putAll(tickets);
    copy.ends.putAll(ends);
    return copy;
  }

  @Override
  void reset(int newCapacity) {
    super.reset(newCapacity);
    ends.clear();
  }
}
