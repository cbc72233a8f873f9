package io.mortise.torture.history;

/** A worker's hold of a lock, as it saw it. */
final class ObservedHold {
  final int worker;
  final String lock;
  final long attempt;

  /** The begin of its acquire. */
  final long asked;

  /** The moment after it first saw its lease valid. */
  final long from;

  final long token;

  /** The last moment of its certain belief; at least {@link #from}. */
  long sure;

  /** The time of its confirmed release; {@code Long.MAX_VALUE} if there was none. */
  long ended = Long.MAX_VALUE;

  /** The end of its release, confirmed or not; {@code Long.MAX_VALUE} if there was none. */
  long gave = Long.MAX_VALUE;

  /** The death of its process; {@code Long.MAX_VALUE} if it was not killed. */
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
