package io.mortise.spring.integration;

import io.mortise.LockName;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/** The lock names of a registry's keys. */
final class LockKey {
  private static final String HASHED = "sha256/";
  private static final int HEX_DIGITS = 64;

  /** A prefix leaves room for a hash. */
  static final int LONGEST_PREFIX = LockName.MAX_BYTES - HASHED.length() - HEX_DIGITS;

  private LockKey() {}

  /**
   * The name of a key: its text, or a hash of that where the text is no lock name or looks like
   * such a hash. A line break in a path must not fail.
   *
   * @throws IllegalArgumentException if the key has no text of its own: two equal keys in two
   *     processes would be different locks
   */
  static String name(String prefix, Object key) {
    String text = Objects.requireNonNull(key, "lockKey").toString();
    Objects.requireNonNull(text, "the text of the lockKey");
    if (text.equals(key.getClass().getName() + "@" + Integer.toHexString(key.hashCode()))) {
      throw new IllegalArgumentException(
          "Lock key of type '"
              + key.getClass().getName()
              + "' has no text of its own, so it would name another lock in each process. Use a String.");
    }
    if (text.startsWith(HASHED)) {
      return prefix + HASHED + sha256(text);
    }
    try {
      return LockName.of(prefix + text).value();
    } catch (IllegalArgumentException e) {
      return prefix + HASHED + sha256(text);
    }
  }

  /** Of the UTF-16 units, since an encoder would replace unpaired surrogates by one character. */
  private static String sha256(String text) {
    ByteBuffer units = ByteBuffer.allocate(Character.BYTES * text.length());
    units.asCharBuffer().put(text);
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(units.array()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Each Java platform has SHA-256.", e);
    }
  }
}
