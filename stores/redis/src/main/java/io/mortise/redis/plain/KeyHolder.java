package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.SessionId;
import io.mortise.support.expiring.ExpiringKeys;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;

/**
 * The holder of a lock, as far as its key tells.
 *
 * @param value of the hold
 * @param left until the key expires
 */
record KeyHolder(String value, Duration left) {
  private static final String DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  /** Stands for the holder if the key is of another type. */
  static final String UNKNOWN = "(a key of another type)";

  /** Shown for a key without an expiry, which no published client writes. */
  private static final Duration ENDLESS = Duration.ofHours(1);

  /** Takes the answer of PTTL: -1 for a key that does not expire. */
  static KeyHolder of(String value, long pttl) {
    return new KeyHolder(value, pttl < 0 ? ENDLESS : Duration.ofMillis(Math.max(1, pttl)));
  }

  /** Our values decode to their attempt; a foreign value gets an attempt derived from it. */
  AttemptId attempt() {
    if (value.length() == AttemptId.LENGTH) {
      try {
        return AttemptId.parse(value);
      } catch (IllegalArgumentException e) {
        // A foreign value.
      }
    }
    StringBuilder id = new StringBuilder();
    byte[] hash = sha256(value);
    for (int i = 0; i < SessionId.LENGTH; i++) {
      id.append(DIGITS.charAt(hash[i] & 63));
    }
    return new AttemptId(new SessionId(id.toString()), 1);
  }

  LockInfo view(LockName name) {
    return ExpiringKeys.view(name, attempt(), new ClientLabel("-", 0, value), left);
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JVM has no SHA-256.", e);
    }
  }
}
