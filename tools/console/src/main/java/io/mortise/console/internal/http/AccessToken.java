package io.mortise.console.internal.http;

import io.mortise.spi.time.Ticker;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * The secret required from every request to the API. Answers to wrong secrets are delayed once
 * there are many; those to the right one never.
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
   * A configured token.
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

  /** Compares digests, which have one length, in constant time. */
  boolean isIn(@Nullable String authorization) {
    return authorization != null && MessageDigest.isEqual(expected, digest(authorization));
  }

  /** Counts a wrong token, and returns the delay of its answer. */
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

  /** Hides the secret. */
  @Override
  public String toString() {
    return "***";
  }
}
