package io.mortise.internal.runtime;

import java.util.regex.Pattern;

/** The text of a store's failure, in messages and in the log. */
public final class FailureText {
  /** A proxy may answer with pages of HTML. */
  private static final int MOST_SHOWN = 200;

  private FailureText() {}

  /** What a failure says of itself, also if it has no message. */
  public static String said(Throwable failure) {
    Throwable origin = CompletionStages.cause(failure);
    String message = origin.getMessage();
    return message == null ? origin.toString() : message;
  }

  /** What was said of a store, as a sentence that names the store once. */
  public static String about(String store, String said) {
    String sentence = withoutFullStop(said) + ".";
    return sentence.contains("'" + store + "'") || sentence.contains("store=" + store)
        ? sentence
        : "Store '" + store + "' failed: " + sentence;
  }

  /**
   * Quotes a server's answer for a message: its first 200 characters, without control characters.
   */
  public static String quoted(String said) {
    String whole = said.strip().replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+", " ");
    return whole.length() <= MOST_SHOWN ? whole : whole.substring(0, MOST_SHOWN) + "…";
  }

  /** Removes {@code (store=…)} with all it holds, for a message that names the store itself. */
  public static String withoutStore(String store, String said) {
    return said.replaceAll(" \\(store=" + Pattern.quote(store) + "(, [^()]*)?\\)", "");
  }

  /** A sentence to be gone on with. */
  public static String withoutFullStop(String said) {
    return said.replaceFirst("\\.+$", "");
  }
}
