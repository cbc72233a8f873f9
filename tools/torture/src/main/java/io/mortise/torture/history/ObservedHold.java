package io.mortise.torture.history;

/** One time that a worker held a lock, as far as it knew. */
final class ObservedHold {
  final int worker;
  final String lock;
  final long attempt;

  /** When it began to ask. */
  final long asked;

  /** When it had just seen its lease valid for the first time. */
  final long from;

  final long token;

  /** The last moment at which it surely believed to hold; at least {@link #from}. */
  long sure;

  /** When the end of its giving back was seen; {@code Long.MAX_VALUE} if it never gave back. */
  long ended = Long.MAX_VALUE;

  /** When it had given back, well or not; {@code Long.MAX_VALUE} if never. */
  long gave = Long.MAX_VALUE;

  /** When its process was killed; {@code Long.MAX_VALUE} if never. */
  long killed = Long.MAX_VALUE;

  ObservedHold(HistoryEvent holds, long asked) {
    this.worker = holds.worker();
    this.lock = holds.lock();
    this.attempt = holds.attempt();
    this.asked = asked;
    this.from = holds.nanos();
    this.sure = from;
    this.token = holds.token();
  }

  @Override
  public String toString() {
    return "worker " + worker + ", try " + attempt + (token == 0 ? "" : ", token " + token);
  }
}
