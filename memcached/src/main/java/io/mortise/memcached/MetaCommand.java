package io.mortise.memcached;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A command.
 *
 * @param line without what ends it
 * @param value the data that follow; null for a command without
 * @param isMeta whether its reply repeats a number by which it is recognised
 */
record MetaCommand(String line, @Nullable String value, boolean isMeta) {
  static MetaCommand meta(String line) {
    return new MetaCommand(line, null, true);
  }

  static MetaCommand classic(String line) {
    return new MetaCommand(line, null, false);
  }

  /**
   * Stores an item if there is none.
   *
   * <p>The classic command, for a reason: where the server has no room, {@code ms} in mode {@code
   * E} answers "out of memory" and <em>deletes the item that is there</em>, the lock of another
   * (1.6.18). {@code add} leaves it alone.
   */
  static MetaCommand add(String key, long seconds, String value) {
    int length = value.getBytes(StandardCharsets.UTF_8).length;
    return new MetaCommand("add " + key + " 0 " + seconds + " " + length, value, false);
  }

  /** As it is sent. */
  String text(long number) {
    String whole = isMeta ? line + " O" + number : line;
    return value == null ? whole + "\r\n" : whole + "\r\n" + value + "\r\n";
  }
}
