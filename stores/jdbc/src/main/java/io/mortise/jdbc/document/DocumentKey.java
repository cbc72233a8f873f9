package io.mortise.jdbc.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.support.internal.document.KeyEscaper;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;

/**
 * How a document's key is written in the table.
 *
 * <p>The primary key is a hash of decimal digits. Collations ignore case, accents or trailing
 * blanks, and sort two letters as one; all of them tell digits apart and sort them alike. The first
 * digits are those of the namespace and the kind, so that a kind is a range.
 *
 * @param row the primary key
 * @param name for people, and for lists: the namespace and the key, escaped to ASCII
 */
record DocumentKey(String row, String name) {
  private static final KeyEscaper ESCAPER = new KeyEscaper('/', "-_.");

  /** A hash of 64 bits has at most so many digits, and one of 192 bits at most as many as below. */
  private static final int KIND_DIGITS = 20;

  private static final int KIND_BYTES = 8;
  private static final int NAME_DIGITS = 58;
  private static final int NAME_BYTES = 24;

  /** Keys of a kind, in the order of the table. */
  record KindRange(String before, String last) {}

  /**
   * The key of a document.
   *
   * @param key a kind, a slash and a name
   */
  static DocumentKey of(String namespace, String key) {
    String kind = key.substring(0, key.indexOf('/') + 1);
    return new DocumentKey(
        kindDigits(namespace, kind) + digits(key, NAME_BYTES, NAME_DIGITS),
        prefix(namespace) + ESCAPER.escape(key));
  }

  /** All keys of the kind with which a key or a prefix begins. */
  static KindRange range(String namespace, String key) {
    String digits = kindDigits(namespace, key.substring(0, key.indexOf('/') + 1));
    return new KindRange(digits + "0".repeat(NAME_DIGITS), digits + "9".repeat(NAME_DIGITS));
  }

  /** The document's key; empty if another program has made the row. */
  static Optional<String> key(String namespace, String name) {
    String prefix = prefix(namespace);
    return name.startsWith(prefix)
        ? ESCAPER.unescape(name.substring(prefix.length()))
        : Optional.empty();
  }

  private static String prefix(String namespace) {
    return ESCAPER.escape("/" + namespace).substring(1) + " ";
  }

  private static String kindDigits(String namespace, String kind) {
    return digits(kind + namespace, KIND_BYTES, KIND_DIGITS);
  }

  private static String digits(String text, int bytes, int length) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      String number = new BigInteger(1, Arrays.copyOf(hash, bytes)).toString();
      return "0".repeat(length - number.length()) + number;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Each Java platform has SHA-256.", e);
    }
  }
}
