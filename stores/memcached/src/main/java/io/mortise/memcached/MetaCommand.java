package io.mortise.memcached;

import java.nio.charset.StandardCharsets;

/**
 * A command.
 *
 * @param text as it is sent, without the end of its last line
 * @param isMeta whether its reply repeats a number by which it is recognised
 */
record MetaCommand(String text, boolean isMeta) {
  static MetaCommand meta(String line) {
    return new MetaCommand(line, true);
  }

  static MetaCommand classic(String text) {
    return new MetaCommand(text, false);
  }

  /**
   * Stores an item if there is none.
   *
   * <p>The classic command, for a reason: where the server has no room, {@code ms} in mode {@code
   * E} answers "out of memory" and <em>deletes the item that is there</em>, the lock of another
   * (1.6.18). {@code add} leaves it alone.
   */
  static MetaCommand add(String key, long seconds, String value) {
    return writing("add " + key + " 0 " + seconds, value);
  }

  /** A classic command with data. */
  static MetaCommand writing(String line, String value) {
    int length = value.getBytes(StandardCharsets.UTF_8).length;
    return classic(line + " " + length + "\r\n" + value);
  }
}
