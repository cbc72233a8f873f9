package io.mortise.support.internal.document;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Writes keys of documents as keys of a server, one to one: the kind, a separator and the name. In
 * a name ASCII letters, digits and the plain characters stand for themselves. Each other byte of
 * UTF-8 is written as {@code =} and two hexadecimal digits.
 *
 * @param separator replaces the slash behind the kind
 * @param plain ASCII characters without {@code =}
 */
public record KeyEscaper(char separator, String plain) {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final char ESCAPE = '=';

  /**
   * The server's key of a document's key.
   *
   * @param key a kind, a slash and a name
   * @throws IllegalArgumentException if it has no slash
   */
  public String escape(String key) {
    int slash = key.indexOf('/');
    if (slash < 0) {
      throw new IllegalArgumentException(
          "Key '%s' has no '/' between its kind and its name.".formatted(key));
    }
    return key.substring(0, slash) + separator + escapeName(key.substring(slash + 1));
  }

  private String escapeName(String name) {
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

  /** The reverse; empty if this class writes no such key: another program has created it. */
  public Optional<String> unescape(String key) {
    int end = key.indexOf(separator);
    return end < 0
        ? Optional.empty()
        : unescapeName(key.substring(end + 1)).map(name -> key.substring(0, end) + '/' + name);
  }

  private Optional<String> unescapeName(String part) {
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
        .filter(found -> escapeName(found).equals(part));
  }
}
