package io.mortise.cli.output;

/** The width of a text in columns of a terminal. */
public final class TextWidth {
  private static final String ELLIPSIS = "…";

  private TextWidth() {}

  /** The columns of a text without control characters. */
  public static int of(String text) {
    return text.codePoints().map(TextWidth::of).sum();
  }

  /** Cuts the text with an ellipsis to at most this width, which is 1 at least. */
  public static String cut(String text, int columns) {
    if (of(text) <= columns) {
      return text;
    }
    StringBuilder kept = new StringBuilder();
    int taken = 1;
    for (int c : text.codePoints().toArray()) {
      taken += of(c);
      if (taken > columns) {
        break;
      }
      kept.appendCodePoint(c);
    }
    return kept + ELLIPSIS;
  }

  /** Unicode's East Asian wide and full-width letters, and emoji, take two; marks take none. */
  private static int of(int c) {
    int type = Character.getType(c);
    if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
      return 0;
    }
    boolean wide =
        isWithin(c, 0x1100, 0x115F)
            || isWithin(c, 0x2E80, 0x303E)
            || isWithin(c, 0x3041, 0xA4CF)
            || isWithin(c, 0xA960, 0xA97F)
            || isWithin(c, 0xAC00, 0xD7A3)
            || isWithin(c, 0xF900, 0xFAFF)
            || isWithin(c, 0xFE30, 0xFE6F)
            || isWithin(c, 0xFF00, 0xFF60)
            || isWithin(c, 0xFFE0, 0xFFE6)
            || isWithin(c, 0x1F300, 0x1F64F)
            || isWithin(c, 0x1F680, 0x1F6FF)
            || isWithin(c, 0x1F900, 0x1F9FF)
            || isWithin(c, 0x20000, 0x3FFFD);
    return wide ? 2 : 1;
  }

  private static boolean isWithin(int c, int first, int last) {
    return c >= first && c <= last;
  }
}
