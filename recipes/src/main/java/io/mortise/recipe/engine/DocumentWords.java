package io.mortise.recipe.engine;

import io.mortise.LockException;
import org.jspecify.annotations.Nullable;

/** The words of a document behind its head, which names its format and its kind. */
final class DocumentWords {
  private final String owner;
  private final String[] words;

  /**
   * Splits a document.
   *
   * @throws LockException if it has another head, or another number of words
   */
  DocumentWords(String owner, String content, String head, int count) {
    this.owner = owner;
    this.words =
        content.startsWith(head) ? content.substring(head.length()).split(" ", -1) : new String[0];
    if (words.length != count) {
      throw unknown(null);
    }
  }

  String text(int index) {
    return words[index];
  }

  int number(int index) {
    return Math.toIntExact(longNumber(index));
  }

  long longNumber(int index) {
    try {
      return Long.parseLong(words[index]);
    } catch (NumberFormatException e) {
      throw unknown(e);
    }
  }

  LockException unknown(@Nullable RuntimeException cause) {
    String message =
        "The store has something else than the document of %s under its name. Another program, or a later version of Mortise, wrote it: use another name."
            .formatted(owner);
    return cause == null ? new LockException(message) : new LockException(message, cause);
  }
}
