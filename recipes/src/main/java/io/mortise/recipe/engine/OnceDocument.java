package io.mortise.recipe.engine;

import io.mortise.DistributedOnce;
import io.mortise.LockException;
import io.mortise.spi.Fact;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of once-only work in the store. As text: {@code 1 R <run> <token>} for a begun run,
 * {@code 1 D <run> <token> <result>} for a finished one; the result in Base64, or {@code -} for
 * none.
 *
 * @param run identifies the run, so that it recognises its own write if the answer was lost
 * @param token the fencing token of the run; 0 in a store without tokens
 * @param isDone whether it has stored its result
 * @param value the result; null for none
 */
record OnceDocument(String run, long token, boolean isDone, @Nullable String value) {
  private static final String FORMAT = "1";

  static OnceDocument begun(String run, long token) {
    return new OnceDocument(run, token, false, null);
  }

  OnceDocument done(@Nullable String result) {
    return new OnceDocument(run, token, true, result);
  }

  /** Whether it is a step of the same run, and the same step. */
  boolean isSameStep(OnceDocument other) {
    return run.equals(other.run) && isDone == other.isDone;
  }

  /** The length in UTF-8, as {@link DistributedOnce#MAX_RESULT_BYTES} counts it. */
  static int bytes(String value) {
    return value.getBytes(StandardCharsets.UTF_8).length;
  }

  String encode() {
    String head = FORMAT + (isDone ? " D " : " R ") + run + " " + token;
    if (!isDone) {
      return head;
    }
    return head
        + " "
        + (value == null
            ? "-"
            : "=" + Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)));
  }

  /**
   * Decodes the store's text; empty if there is none.
   *
   * @throws LockException if another program or a later version wrote it
   */
  static Optional<OnceDocument> decode(String key, Fact fact) {
    if (fact.content().isEmpty()) {
      return Optional.empty();
    }
    String[] words = fact.content().split(" ", -1);
    boolean done = words.length == 5 && words[1].equals("D");
    boolean begun = words.length == 4 && words[1].equals("R");
    try {
      if (words[0].equals(FORMAT) && (done || begun)) {
        return Optional.of(
            new OnceDocument(
                words[2], Long.parseLong(words[3]), done, done ? value(words[4]) : null));
      }
    } catch (IllegalArgumentException e) {
      throw unknown(key, e);
    }
    throw unknown(key, null);
  }

  private static @Nullable String value(String word) {
    return word.equals("-")
        ? null
        : new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
  }

  private static LockException unknown(String key, @Nullable IllegalArgumentException cause) {
    String message =
        "The store has something else than a result under key '%s'. Another program, or a later version of Mortise, wrote it: use another key."
            .formatted(key);
    return cause == null ? new LockException(message) : new LockException(message, cause);
  }
}
