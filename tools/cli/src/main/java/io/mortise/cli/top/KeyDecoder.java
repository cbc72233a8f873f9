package io.mortise.cli.top;

import io.mortise.cli.top.KeyPress.KeyName;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decodes keys from a terminal's input. For one thread. */
final class KeyDecoder {
  /** Returned by {@link Input#read} if there is no input in time. */
  static final int NOTHING = -2;

  /** Returned by {@link Input#read} at the end of input. */
  static final int END_OF_INPUT = -1;

  /** Ctrl-C, if the terminal does not turn it into a signal. */
  private static final char INTERRUPT = 3;

  private static final char ESCAPE = 27;
  private static final char DELETE = 127;

  /** A terminal sends the rest of a sequence at once; a typed Escape has no rest. */
  private static final long REST_MILLIS = 50;

  private static final int LONGEST = 16;

  private static final Map<String, KeyName> SEQUENCES =
      Map.ofEntries(
          Map.entry("A", KeyName.UP),
          Map.entry("B", KeyName.DOWN),
          Map.entry("H", KeyName.HOME),
          Map.entry("F", KeyName.END),
          Map.entry("1~", KeyName.HOME),
          Map.entry("7~", KeyName.HOME),
          Map.entry("4~", KeyName.END),
          Map.entry("8~", KeyName.END),
          Map.entry("5~", KeyName.PAGE_UP),
          Map.entry("6~", KeyName.PAGE_DOWN));

  private final Input input;

  /** A source of characters. */
  @FunctionalInterface
  interface Input {
    /** The next character; {@link #NOTHING} if none comes in time, -1 at the end. */
    int read(long millis) throws IOException;
  }

  KeyDecoder(Input input) {
    this.input = input;
  }

  /** The next key; null if none is pressed in time. */
  @Nullable KeyPress next(long millis) throws IOException {
    int c = input.read(millis);
    return switch (c) {
      case NOTHING -> null;
      case END_OF_INPUT, INTERRUPT -> KeyPress.of(KeyName.GONE);
      case '\r', '\n' -> KeyPress.of(KeyName.ENTER);
      case '\b', DELETE -> KeyPress.of(KeyName.BACKSPACE);
      case ESCAPE -> sequence();
      default -> c < ' ' ? KeyPress.of(KeyName.UNKNOWN) : KeyPress.typed(codePoint(c));
    };
  }

  /** Joins the two surrogates of characters outside of the basic plane. */
  private int codePoint(int c) throws IOException {
    if (!Character.isHighSurrogate((char) c)) {
      return c;
    }
    int low = input.read(REST_MILLIS);
    return low > 0 && Character.isLowSurrogate((char) low)
        ? Character.toCodePoint((char) c, (char) low)
        : '?';
  }

  private KeyPress sequence() throws IOException {
    int begin = input.read(REST_MILLIS);
    if (begin == NOTHING || begin == ESCAPE || begin == END_OF_INPUT) {
      return KeyPress.of(KeyName.ESCAPE);
    }
    if (begin != '[' && begin != 'O') {
      return KeyPress.of(KeyName.UNKNOWN);
    }
    StringBuilder rest = new StringBuilder();
    for (int c = input.read(REST_MILLIS); c > 0; c = input.read(REST_MILLIS)) {
      rest.append((char) c);
      boolean isLast = c >= '@' && c <= '~';
      if (isLast || rest.length() == LONGEST) {
        break;
      }
    }
    return KeyPress.of(SEQUENCES.getOrDefault(rest.toString(), KeyName.UNKNOWN));
  }
}
