package io.mortise.spi;

/**
 * Fixed-width base-64 numbers, most significant digit first, in an alphabet whose order is that of
 * ASCII.
 */
final class Base64Digits {
  private static final String ALPHABET =
      "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

  private Base64Digits() {}

  static String encode(long number, int width) {
    char[] digits = new char[width];
    long rest = number;
    for (int i = width - 1; i >= 0; i--) {
      digits[i] = ALPHABET.charAt((int) (rest & 63));
      rest >>>= 6;
    }
    return new String(digits);
  }

  static long decode(String digits) {
    long number = 0;
    for (int i = 0; i < digits.length(); i++) {
      number = number << 6 | value(digits.charAt(i));
    }
    return number;
  }

  static boolean isDigits(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (value(text.charAt(i)) < 0) {
        return false;
      }
    }
    return true;
  }

  private static int value(char digit) {
    return ALPHABET.indexOf(digit);
  }
}
