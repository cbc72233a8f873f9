package io.mortise.internal.storekit;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Writes names as parts of keys, one to one: ASCII letters, digits and the plain characters stand
 * for themselves. Each other byte of UTF-8 is written as {@code =} and two hexadecimal digits.
 *
 * @param plain ASCII characters without {@code =}
 */
public record KeyEscaper(String plain) {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final char ESCAPE = '=';

  /** A part of a key. */
  public String escape(String name) {
    StringBuilder part = new StringBuilder();
    for (byte one : name.getBytes(StandardCharsets.UTF_8)) {
      char letter = (char) (one & 0xFF);
      if (isPlain(letter)) {
        part.append(letter);
      } else {
        HEX.toHexDigits(part.append(ESCAPE), one);
      }
    }
    return part.toString();
  }

  private boolean isPlain(char letter) {
    return (letter >= 'a' && letter <= 'z')
        || (letter >= 'A' && letter <= 'Z')
        || (letter >= '0' && letter <= '9')
        || plain.indexOf(letter) >= 0;
  }

  /** The reverse; empty if no name is written so, and another program has made the key. */
  public Optional<String> unescape(String part) {
    byte[] name = new byte[part.length()];
    int length = 0;
    try {
      for (int i = 0; i < part.length(); i++) {
        char letter = part.charAt(i);
        if (letter == ESCAPE) {
          name[length++] = (byte) HexFormat.fromHexDigits(part, i + 1, i + 3);
          i += 2;
        } else {
          name[length++] = (byte) letter;
        }
      }
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
    return Optional.of(new String(name, 0, length, StandardCharsets.UTF_8))
        .filter(found -> escape(found).equals(part));
  }
}
