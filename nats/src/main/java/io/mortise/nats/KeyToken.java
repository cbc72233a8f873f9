package io.mortise.nats;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Keys of documents as keys of a bucket, one to one: the slash behind the kind is a dot there, and
 * what a key of NATS cannot have is written as {@code =} and two digits for each byte.
 */
final class KeyToken {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final String PLAIN = "-_/";
  private static final char ESCAPE = '=';

  private KeyToken() {}

  static String encode(String key) {
    int slash = key.indexOf('/');
    StringBuilder token = new StringBuilder(key.substring(0, slash)).append('.');
    for (byte one : key.substring(slash + 1).getBytes(StandardCharsets.UTF_8)) {
      char letter = (char) (one & 0xFF);
      if (isPlain(letter)) {
        token.append(letter);
      } else {
        HEX.toHexDigits(token.append(ESCAPE), one);
      }
    }
    return token.toString();
  }

  private static boolean isPlain(char letter) {
    return (letter >= 'a' && letter <= 'z')
        || (letter >= 'A' && letter <= 'Z')
        || (letter >= '0' && letter <= '9')
        || PLAIN.indexOf(letter) >= 0;
  }

  /** The reverse; empty if it is the token of no document, which another program has made. */
  static Optional<String> decode(String token) {
    try {
      return Optional.of(plain(token)).filter(key -> encode(key).equals(token));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }

  private static String plain(String token) {
    int dot = token.indexOf('.');
    byte[] name = new byte[token.length()];
    int length = 0;
    for (int i = dot + 1; i < token.length(); i++) {
      char letter = token.charAt(i);
      if (letter == ESCAPE) {
        name[length++] = (byte) HexFormat.fromHexDigits(token, i + 1, i + 3);
        i += 2;
      } else {
        name[length++] = (byte) letter;
      }
    }
    return token.substring(0, dot) + "/" + new String(name, 0, length, StandardCharsets.UTF_8);
  }
}
