package io.mortise;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The name of a lock as the user chose it: 1 to 512 bytes of well-formed UTF-8 without control
 * characters.
 *
 * <p>Equality is that of the bytes: no case folding, no Unicode normalisation. Stores escape the
 * name injectively when they write it. Immutable; checked once, here, so no other code has to check
 * again.
 */
public final class LockName implements Comparable<LockName> {
  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 512;

  private final String value;

  private LockName(String value) {
    this.value = value;
  }

  /**
   * Checks a name.
   *
   * @throws NullPointerException if it is null
   * @throws IllegalArgumentException if it is empty, longer than 512 bytes of UTF-8, or holds a
   *     control character or an unpaired surrogate; the message says which, and where
   */
  public static LockName of(String name) {
    String value = Objects.requireNonNull(name, "name");
    if (value.isEmpty()) {
      throw new IllegalArgumentException(
          "A lock name must not be empty. Choose 1 to 512 bytes of UTF-8.");
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c >= ' ' && c <= '~') {
        continue;
      }
      if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
        throw new IllegalArgumentException(
            String.format(
                "Lock name has the control character U+%04X at index %s. Choose a name without control characters.",
                (int) c, i));
      }
      if (Character.isHighSurrogate(c)
          && i + 1 < value.length()
          && Character.isLowSurrogate(value.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new IllegalArgumentException(
            String.format(
                "Lock name has the unpaired surrogate U+%04X at index %s, which is not UTF-8. Remove it.",
                (int) c, i));
      }
    }
    int bytes =
        value.length() > MAX_BYTES ? value.length() : value.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "Lock name '"
              + value.substring(0, 32)
              + "…' is longer than "
              + MAX_BYTES
              + " bytes of UTF-8. Shorten it, or hash its tail.");
    }
    return new LockName(value);
  }

  /** The name as the user wrote it. */
  public String value() {
    return value;
  }

  /** A fresh array of the name's UTF-8 bytes. */
  public byte[] utf8() {
    return value.getBytes(StandardCharsets.UTF_8);
  }

  /** Orders by unsigned UTF-8 bytes, which is the order in which several locks are taken. */
  @Override
  public int compareTo(LockName other) {
    return java.util.Arrays.compareUnsigned(utf8(), other.utf8());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LockName that && value.equals(that.value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  /**
   * The name for messages and logs: with the escape <code>&#92;u{202e}</code> for an invisible
   * character, such as one that changes the direction of text.
   */
  @Override
  public String toString() {
    return value.codePoints().noneMatch(LockName::isShapeless)
        ? value
        : value
            .codePoints()
            .mapToObj(c -> isShapeless(c) ? String.format("\\u{%x}", c) : Character.toString(c))
            .collect(Collectors.joining());
  }

  private static boolean isShapeless(int c) {
    return c > '~' && Character.getType(c) == Character.FORMAT;
  }
}
