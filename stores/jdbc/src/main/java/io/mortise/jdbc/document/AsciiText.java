package io.mortise.jdbc.document;

/**
 * The text of a document as a column keeps it: ASCII, since a database may have another character
 * set than Unicode, and behind a mark, since some databases take an empty text for none.
 */
final class AsciiText {
  private static final char MARK = '=';
  private static final char ESCAPE = '\\';
  private static final int HEX = 16;
  private static final int ESCAPED_LENGTH = 6;

  private AsciiText() {}

  static String encode(String text) {
    int plain = 0;
    while (plain < text.length() && isPlain(text.charAt(plain))) {
      plain++;
    }
    if (plain == text.length()) {
      return MARK + text;
    }
    StringBuilder encoded = new StringBuilder(text.length() * 2).append(MARK);
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      if (isPlain(letter)) {
        encoded.append(letter);
      } else {
        encoded.append(ESCAPE).append('u');
        for (int shift = 12; shift >= 0; shift -= 4) {
          encoded.append(Character.forDigit(letter >> shift & 0xF, HEX));
        }
      }
    }
    return encoded.toString();
  }

  private static boolean isPlain(char letter) {
    return (letter >= ' ' && letter <= '~' && letter != ESCAPE) || letter == '\t' || letter == '\n';
  }

  /**
   * The reverse.
   *
   * @throws IllegalArgumentException if another program has written the column
   */
  static String decode(String column) {
    if (column.isEmpty() || column.charAt(0) != MARK) {
      throw new IllegalArgumentException("no text of Mortise");
    }
    int escape = column.indexOf(ESCAPE);
    if (escape < 0) {
      return column.substring(1);
    }
    StringBuilder text = new StringBuilder(column.length());
    int begin = 1;
    for (; escape >= 0; escape = column.indexOf(ESCAPE, begin)) {
      int end = escape + ESCAPED_LENGTH;
      if (end > column.length()) {
        throw new IllegalArgumentException("an escape is cut off");
      }
      text.append(column, begin, escape);
      text.append((char) Integer.parseInt(column, escape + 2, end, HEX));
      begin = end;
    }
    return text.append(column, begin, column.length()).toString();
  }
}
