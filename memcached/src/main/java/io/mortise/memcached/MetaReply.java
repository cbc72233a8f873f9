package io.mortise.memcached;

import java.util.List;
import java.util.Map;

/**
 * What a server answers to a command.
 *
 * @param line the first line, without what ends it; a statistic has none
 * @param words of that line
 * @param value the data that follow; empty if there are none
 * @param statistics what {@code stats} tells; empty for other commands
 */
record MetaReply(String line, List<String> words, String value, Map<String, String> statistics) {
  /** A reply of one line. */
  static MetaReply of(String line) {
    return new MetaReply(line, List.of(line.split(" ")), "", Map.of());
  }

  /** Whether it begins with this word. */
  boolean is(String code) {
    return words.get(0).equals(code);
  }

  boolean isOutOfMemory() {
    return line.startsWith("SERVER_ERROR out of memory");
  }

  boolean isError() {
    return words.get(0).endsWith("ERROR");
  }

  /** The value of a flag that the server returns; empty if it does not return it. */
  String flag(char flag) {
    for (int i = is("VA") ? 2 : 1; i < words.size(); i++) {
      if (!words.get(i).isEmpty() && words.get(i).charAt(0) == flag) {
        return words.get(i).substring(1);
      }
    }
    return "";
  }

  /** The same as a number; -1 if it is none, as for an item without an end. */
  long number(char flag) {
    try {
      return Long.parseLong(flag(flag));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** What the server said, for messages. */
  String shown() {
    return line.replaceAll("\\p{Cntrl}", "?");
  }
}
