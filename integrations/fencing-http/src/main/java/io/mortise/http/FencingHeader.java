package io.mortise.http;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FencingToken} as the value of a header, and a guard's refusal as a response header:
 *
 * <pre>{@code
 * Fencing-Token: v1;lock="invoice/42";value="1795557150994869";holder="c2Vzc2lvbg-7"
 * Fencing-Refused: v1;value="1795557150994869";seen="1795557150994902";holder="YW5vdGhlcg-3"
 * }</pre>
 *
 * <p>Both are items of structured fields (RFC 9651). Numbers are strings, as an integer of that
 * format has 15 digits at most, and tokens have more. Names of locks outside of ASCII are display
 * strings. Readers ignore parameters that they do not know.
 *
 * <p>A token is no secret and proves no identity: read it from authenticated callers only. All
 * methods are pure and thread-safe; none blocks.
 */
public final class FencingHeader {
  /** The request header with lock, value and holder. */
  public static final String NAME = "Fencing-Token";

  /** The request header with the value alone, as other systems use it. */
  public static final String DIGITS_NAME = "X-Fencing-Token";

  /** The response header with the token that a guard refused, and the one it has seen. */
  public static final String REFUSED_NAME = "Fencing-Refused";

  /** The status of a response to a stale token: precondition failed. */
  public static final int STALE_STATUS = 412;

  /** The status of a response to a token that was granted twice: conflict. */
  public static final int TWICE_STATUS = 409;

  /** The holder of tokens that were read from {@link #DIGITS_NAME}, which has none. */
  public static final String UNKNOWN_HOLDER = "x-fencing-token";

  private static final String VERSION = "v1";

  /** Chains of causes may have no end. */
  private static final int DEEPEST_CAUSE = 20;

  private static final Pattern DIGITS = Pattern.compile("[1-9][0-9]{0,18}");

  private FencingHeader() {}

  /** The value of {@link #NAME} for this token. */
  public static String format(FencingToken token) {
    return new HeaderItem(VERSION)
        .with("lock", token.lock())
        .with("value", Long.toString(token.value()))
        .with("holder", token.holder())
        .toString();
  }

  /**
   * Reads the output of {@link #format}.
   *
   * @throws InvalidFencingHeaderException if it is no such text, of another version, or its parts
   *     are no token
   */
  public static FencingToken parse(String value) {
    Map<String, String> parts = HeaderItem.parse(VERSION, value).parameters();
    String lock = part(parts, "lock", value);
    String digits = part(parts, "value", value);
    String holder = part(parts, "holder", value);
    return token(lock, number(digits, value), holder);
  }

  /**
   * Reads the value of {@link #DIGITS_NAME}. Without a holder, a guard cannot notice that a token
   * was granted twice.
   *
   * @param lock the token's lock, which the header does not have
   * @throws InvalidFencingHeaderException if it is not a positive number of 64 bits, or the name is
   *     no lock name
   */
  public static FencingToken parseDigits(String value, String lock) {
    return token(lock, number(value, value), UNKNOWN_HOLDER);
  }

  /**
   * Adds {@link #NAME} to a request of {@code java.net.http}.
   *
   * @return the given builder
   */
  public static HttpRequest.Builder addTo(HttpRequest.Builder request, FencingToken token) {
    return request.setHeader(NAME, format(token));
  }

  /**
   * Returns if the answer is no refusal of this token.
   *
   * @param sent the token that the request had
   * @throws StaleTokenException if the server's guard refused it; nothing was written there
   */
  public static void ensureAccepted(HttpResponse<?> response, FencingToken sent) {
    refusal(
            response.statusCode(),
            response.headers().firstValue(REFUSED_NAME).orElse(null),
            String.valueOf(response.uri().getAuthority()),
            sent)
        .ifPresent(
            refusal -> {
              throw refusal;
            });
  }

  /**
   * The answer about a token of a guard behind an HTTP server.
   *
   * @param status of the response
   * @param refused the value of its {@link #REFUSED_NAME}; null if it has none
   * @param server that answered, for display
   * @param sent the token that the request had
   * @return empty if the response is no refusal of that token: another status, or a 412 or 409 with
   *     another cause
   */
  public static Optional<StaleTokenException> refusal(
      int status, @Nullable String refused, String server, FencingToken sent) {
    if ((status != STALE_STATUS && status != TWICE_STATUS) || refused == null) {
      return Optional.empty();
    }
    try {
      Map<String, String> parts = HeaderItem.parse(VERSION, refused).parameters();
      if (number(part(parts, "value", refused), refused) != sent.value()) {
        return Optional.empty();
      }
      String seen = parts.get("seen");
      return Optional.of(
          seen == null
              ? new StaleTokenException(server, sent)
              : new StaleTokenException(
                  server, sent, number(seen, refused), part(parts, "holder", refused)));
    } catch (InvalidFencingHeaderException e) {
      return Optional.empty();
    }
  }

  /**
   * A guard's refusal of a token, inside the wrappers of frameworks.
   *
   * @param sent the token of the request; null if it had none
   * @param failure of the request; null if there is none
   * @return empty if neither the failure nor any of its causes is a refusal of that token
   */
  public static Optional<StaleTokenException> refusal(
      @Nullable FencingToken sent, @Nullable Throwable failure) {
    Throwable at = failure;
    for (int depth = 0; at != null && depth < DEEPEST_CAUSE; depth++) {
      if (at instanceof StaleTokenException stale) {
        return stale.refused().equals(sent) ? Optional.of(stale) : Optional.empty();
      }
      at = at.getCause();
    }
    return Optional.empty();
  }

  /** The value of {@link #REFUSED_NAME} for a guard's exception. */
  public static String formatRefusal(StaleTokenException refusal) {
    HeaderItem item =
        new HeaderItem(VERSION).with("value", Long.toString(refusal.refused().value()));
    if (refusal.currentToken() > 0) {
      item.with("seen", Long.toString(refusal.currentToken()))
          .with("holder", refusal.currentHolder());
    }
    return item.toString();
  }

  /** The status of a response to this refusal. */
  public static int status(StaleTokenException refusal) {
    return refusal.isGrantedTwice() ? TWICE_STATUS : STALE_STATUS;
  }

  private static String part(Map<String, String> parts, String name, String text) {
    String value = parts.get(name);
    if (value == null) {
      throw HeaderItem.invalid(text, "parameter '" + name + "' is missing");
    }
    return value;
  }

  private static long number(String digits, String text) {
    if (DIGITS.matcher(digits).matches()) {
      try {
        return Long.parseLong(digits);
      } catch (NumberFormatException e) {
        // More than 64 bits.
      }
    }
    throw HeaderItem.invalid(text, "its value is no whole number from 1 to 2^63 - 1");
  }

  private static FencingToken token(String lock, long value, String holder) {
    try {
      return new FencingToken(Objects.requireNonNull(lock), value, holder);
    } catch (IllegalArgumentException e) {
      throw new InvalidFencingHeaderException(
          "A fencing token in a header is not valid: " + e.getMessage());
    }
  }
}
