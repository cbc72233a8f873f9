package io.mortise.spi;

import java.util.Arrays;

/** Fixed-width base-64 numbers, most significant digit first. The alphabet is in ASCII order. */
final class Base64Digits {
  private static final String ALPHABET =
      "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

  private static final int MOST_SHOWN = 40;

  private static final byte[] VALUES = new byte[128];

  static {
    Arrays.fill(VALUES, (byte) -1);
    for (int i = 0; i < ALPHABET.length(); i++) {
      VALUES[ALPHABET.charAt(i)] = (byte) i;
    }
  }

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

  /** The begin of a text that is no such number, in printable ASCII, for messages. */
  static String shown(String text) {
    String begin = text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) + "..." : text;
    return begin.replaceAll("[^ -~]", "?");
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
    return digit < VALUES.length ? VALUES[digit] : -1;
  }
}
