package io.mortise.cli.top;

/**
 * A line of the screen.
 *
 * @param text without control characters
 */
record ScreenLine(String text, Style style) {

  /** The style of a line. */
  enum Style {
    PLAIN("", ""),
    STRONG("1", "1"),
    DIM("2", "2"),
    SELECTED("7", "7"),
    WORRY("33", ""),
    BAD("31", ""),
    ALARM("1;31", "1;7");

    private final String colour;
    private final String plain;

    Style(String colour, String plain) {
      this.colour = colour;
      this.plain = plain;
    }

    /** The parameters of the sequence that switches it on; empty if there is none. */
    String codes(boolean colours) {
      return colours ? colour : plain;
    }
  }

  static ScreenLine plain(String text) {
    return new ScreenLine(text, Style.PLAIN);
  }
}
