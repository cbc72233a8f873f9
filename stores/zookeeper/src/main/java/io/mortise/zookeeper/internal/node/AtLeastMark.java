package io.mortise.zookeeper.internal.node;

import io.mortise.spi.AttemptId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The name of a persistent node beside that of a hold, {@code least-SEQ-LAST-START-MS-ATTEMPT}: the
 * lock stays shut for that time if the hold ends sooner. Once the hold's node is gone, no further
 * attempt is granted until an observer that has known of attempt and start for as long removes the
 * mark (ADR 156). Removing it by this name fails if it was replaced.
 *
 * @param seq the number of the hold's node
 * @param last the last number that held when the hold ended: those up to it go on
 * @param start how often the time was started; the last start counts
 */
public record AtLeastMark(int seq, int last, long start, Duration length, AttemptId attempt) {
  private static final String PREFIX = "least-";
  private static final int PARTS = 5;

  /** The name of the node. */
  public String name() {
    return PREFIX
        + seq
        + "-"
        + last
        + "-"
        + start
        + "-"
        + length.toMillis()
        + "-"
        + attempt.encoded();
  }

  /** The same for a hold that ended while others went on, up to that number. */
  public AtLeastMark upTo(int number) {
    return new AtLeastMark(seq, number, start, length, attempt);
  }

  /** Parses the name of a node; null for one of another kind. */
  public static @Nullable AtLeastMark parse(String node) {
    if (!node.startsWith(PREFIX)) {
      return null;
    }
    String[] parts = node.substring(PREFIX.length()).split("-", PARTS);
    try {
      return new AtLeastMark(
          Integer.parseInt(parts[0]),
          Integer.parseInt(parts[1]),
          Long.parseLong(parts[2]),
          Duration.ofMillis(Long.parseLong(parts[3])),
          AttemptId.parse(parts[4]));
    } catch (RuntimeException e) {
      return null;
    }
  }
}
