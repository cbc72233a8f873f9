package io.mortise.console.internal.http;

import io.mortise.spi.time.Ticker;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The secret that every request to the API has to have. Answers to wrong ones are kept back as soon
 * as there are many; the right one is never delayed.
 */
public final class AccessToken {
  private static final int BYTES = 16;
  private static final int SHORTEST = 20;
  private static final int FREE_FAILURES = 20;
  private static final long WINDOW_NANOS = Duration.ofMinutes(1).toNanos();
  private static final Duration PENALTY = Duration.ofSeconds(1);
  private static final String SCHEME = "Bearer ";

  private final String value;
  private final byte[] expected;
  private final Ticker ticker;
  private long windowStart;
  private int failures;

  /**
   * A token that somebody chose.
   *
   * @throws IllegalArgumentException if it is short, or has characters that a header or a URL would
   *     have to escape
   */
  public AccessToken(String value, Ticker ticker) {
    if (value.length() < SHORTEST || !value.matches("[A-Za-z0-9._~-]+")) {
      throw new IllegalArgumentException(
          "The token needs "
              + SHORTEST
              + " characters or more, of A-Z a-z 0-9 . _ ~ - only. To make one: openssl rand -hex 16");
    }
    this.value = value;
    this.expected = digest(SCHEME + value);
    this.ticker = ticker;
    this.windowStart = ticker.nanos();
  }

  /** 128 random bits. */
  public static AccessToken random(SecureRandom random, Ticker ticker) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return new AccessToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes), ticker);
  }

  /** The secret. */
  public String value() {
    return value;
  }

  /** Compares digests, which are of one length, in constant time. */
  boolean isIn(@Nullable String authorization) {
    return authorization != null && MessageDigest.isEqual(expected, digest(authorization));
  }

  /** Counts a wrong token, and says how long its answer is to be kept back. */
  synchronized Duration failed() {
    long now = ticker.nanos();
    if (now - windowStart > WINDOW_NANOS) {
      windowStart = now;
      failures = 0;
    }
    failures++;
    return failures > FREE_FAILURES ? PENALTY : Duration.ZERO;
  }

  private static byte[] digest(String text) {
    return Digests.sha256(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Never the secret. */
  @Override
  public String toString() {
    return "***";
  }
}
