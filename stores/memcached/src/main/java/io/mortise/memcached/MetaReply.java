package io.mortise.memcached;

import io.mortise.internal.runtime.FailureText;
import java.util.Map;

/**
 * The reply of a server to a command.
 *
 * @param line the first line, without its line break; a statistic has none
 * @param value the data that follow; empty if there are none
 * @param statistics the answer to {@code stats}; empty for other commands
 */
record MetaReply(String line, String value, Map<String, String> statistics) {
  /** A reply of one line. */
  static MetaReply of(String line) {
    return new MetaReply(line, "", Map.of());
  }

  /** Whether it begins with this word. */
  boolean is(String code) {
    return line.startsWith(code)
        && (line.length() == code.length() || line.charAt(code.length()) == ' ');
  }

  boolean isOutOfMemory() {
    return line.startsWith("SERVER_ERROR out of memory");
  }

  boolean isError() {
    return is("ERROR") || is("CLIENT_ERROR") || is("SERVER_ERROR");
  }

  /** The value of a flag that the server returns; empty if it does not return it. */
  String flag(char flag) {
    int at = line.indexOf(' ', is("VA") ? "VA ".length() : 0);
    while (at >= 0 && (at + 1 == line.length() || line.charAt(at + 1) != flag)) {
      at = line.indexOf(' ', at + 1);
    }
    return at < 0 ? "" : word(at + 2);
  }

  /** The word that begins there, up to the next blank. */
  private String word(int from) {
    int end = line.indexOf(' ', from);
    return line.substring(from, end < 0 ? line.length() : end);
  }

  /** The same as a number; -1 if it is none, as for an item without an end. */
  long number(char flag) {
    return number(flag(flag));
  }

  /** How many bytes of data follow; -1 if it does not say so. */
  long length() {
    return is("VA") && line.length() > "VA ".length() ? number(word("VA ".length())) : -1;
  }

  private static long number(String word) {
    try {
      return Long.parseLong(word);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** The first line, for messages. */
  String shown() {
    return FailureText.quoted(line);
  }
}
