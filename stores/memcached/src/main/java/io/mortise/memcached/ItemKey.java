package io.mortise.memcached;

import io.mortise.LockName;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * The keys of locks: {@code prefix:name}. A byte of the name that is not a printable ASCII
 * character, and each {@code %}, is written as {@code %XX}. A name whose key would be longer than
 * memcached takes is written as its beginning, {@code %%} and its SHA-256. No two names share a
 * key: no other key holds {@code %%}.
 */
final class ItemKey {
  /** KEY_MAX_LENGTH of memcached. */
  static final int MAX_LENGTH = 250;

  private static final String HEX = "0123456789ABCDEF";

  private ItemKey() {}

  static String of(String prefix, LockName name) {
    byte[] utf8 = name.utf8();
    StringBuilder key = new StringBuilder(prefix).append(':');
    for (byte one : utf8) {
      if (one > ' ' && one <= '~' && one != '%') {
        key.append((char) one);
      } else {
        key.append('%').append(HEX.charAt((one >> 4) & 15)).append(HEX.charAt(one & 15));
      }
    }
    if (key.length() <= MAX_LENGTH) {
      return key.toString();
    }
    String hash = "%%" + Base64.getUrlEncoder().withoutPadding().encodeToString(sha256(utf8));
    key.setLength(MAX_LENGTH - hash.length());
    return key.append(hash).toString();
  }

  /** A key that is no lock's, by which the server's clock is read. */
  static String ofClock(String prefix) {
    return prefix + ";clock";
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JVM has no SHA-256.", e);
    }
  }
}
