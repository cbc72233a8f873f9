package io.mortise.internal.runtime;

import java.util.regex.Pattern;

/** The text of a store's failure, in messages and in the log. */
public final class FailureText {
  /** A proxy may answer with pages of HTML. */
  private static final int MOST_SHOWN = 200;

  /** Messages of this library are shorter; one of a driver may quote foreign text. */
  private static final int MOST_SAID = 2_000;

  private FailureText() {}

  /** A failure's text, also without a message: the first 2,000 characters, none of them control. */
  public static String said(Throwable failure) {
    Throwable origin = CompletionStages.cause(failure);
    String message = origin.getMessage();
    return oneLine(message == null ? origin.toString() : message, MOST_SAID);
  }

  /** A report about a store, as a sentence that names the store once. */
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
    return oneLine(said, MOST_SHOWN);
  }

  private static String oneLine(String said, int most) {
    // A document may have megabytes.
    String begin = said.substring(0, Math.min(said.length(), 4 * most));
    String line = begin.strip().replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+", " ");
    return line.length() <= most && begin.length() == said.length()
        ? line
        : line.substring(0, Math.min(line.length(), most)) + "…";
  }

  /** Removes {@code (store=…)} with all its contents, for a message that names the store itself. */
  public static String withoutStore(String store, String said) {
    return said.replaceAll(" \\(store=" + Pattern.quote(store) + "(, [^()]*)?\\)", "");
  }

  /** The sentence without its full stop, to be continued. */
  public static String withoutFullStop(String said) {
    return said.replaceFirst("\\.+$", "");
  }
}
