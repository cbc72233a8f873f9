package io.mortise.zookeeper.internal.queue;

import io.mortise.zookeeper.internal.node.AtLeastMark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The at-least time of one attempt of a session. A grant is told only once the mark of that time
 * was made. Guarded by its session.
 */
final class AtLeastHold {
  private Duration length;
  private long start = 1;

  /** The mark that certainly exists. */
  private @Nullable AtLeastMark made;

  /** All marks that may exist. */
  private final List<AtLeastMark> sent = new ArrayList<>();

  /** Whether the mark is being made. */
  boolean isMarking;

  /** Whether the engine is to be told of the grant unasked. */
  boolean announces;

  /** Requests to answer once the mark was made. */
  final List<PendingRequest> owed = new ArrayList<>();

  AtLeastHold(Duration length) {
    this.length = length;
  }

  /** Starts the time again. */
  void restart(Duration again) {
    length = again;
    start++;
  }

  /** Whether the mark of the last start is missing, or may be. */
  boolean lacksMark() {
    return made == null || made.start() != start;
  }

  /** The mark of the last start, which is sent now. */
  AtLeastMark send(ZooKeeperAttempt attempt, SessionAttempts attempts) {
    AtLeastMark mark =
        new AtLeastMark(attempt.seq, attempt.seq, start, length, attempts.id(attempt));
    if (!sent.contains(mark)) {
      sent.add(mark);
    }
    return mark;
  }

  /** This mark was made, and that of an earlier start was removed with it, if it was certain. */
  void made(AtLeastMark mark) {
    sent.remove(made);
    made = mark;
  }

  /** No mark is certain any more. */
  void forgetMade() {
    made = null;
  }

  @Nullable AtLeastMark mark() {
    return made;
  }

  /** All marks that may exist. */
  List<AtLeastMark> sent() {
    return List.copyOf(sent);
  }

  /** Whether the time was taken back before its mark was certain. */
  boolean isTakenBack() {
    return length.compareTo(Duration.ofMillis(1)) <= 0;
  }
}
