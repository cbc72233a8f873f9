package io.mortise.console.internal.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Rules checked before a request is interpreted. */
abstract class RequestGuard {
  static final int MAX_BODY = 8 * 1024;

  private static final int MAX_ADDRESS = 4096;

  /**
   * Checks rules of every request.
   *
   * @throws RefusedException if a rule is broken
   */
  final void check(ConsoleRequest request) {
    if (request.path().length() + request.query().length() > MAX_ADDRESS) {
      throw new RefusedException(
          414,
          "too-long",
          "The address has more than " + MAX_ADDRESS + " characters.",
          "Filter by a shorter text.");
    }
    checkSource(request);
    if (request.method().equals("POST")) {
      checkBody(request);
    }
  }

  /**
   * Checks the request's target and origin.
   *
   * @throws RefusedException if its target or origin is another site
   */
  abstract void checkSource(ConsoleRequest request);

  /**
   * Whether the head of a request proves its right to use the API. Otherwise its body is not read.
   *
   * @throws RefusedException if the head is ambiguous
   */
  abstract boolean admits(ConsoleRequest request);

  /** The refusal of an unauthorized request to the API; null if it is authorized. */
  abstract @Nullable ConsoleResponse refusal(ConsoleRequest request);

  private static void checkBody(ConsoleRequest request) {
    String type = request.header("Content-Type");
    if (type == null
        || !type.toLowerCase(Locale.ROOT)
            .replaceFirst(";.*", "")
            .strip()
            .equals("application/json")) {
      throw new RefusedException(
          415, "not-json", "A body has to be JSON, with Content-Type: application/json.", "");
    }
    if (request.body().length > MAX_BODY) {
      throw new RefusedException(413, "too-long", "The body is longer than 8 kB.", "");
    }
  }

  /**
   * Whether the browser declares another site as the sender. Links from other sites to the page are
   * allowed; all fetches of the page are its own.
   */
  static boolean isFromOtherSite(ConsoleRequest request) {
    String site = request.header("Sec-Fetch-Site");
    boolean followed =
        request.method().equals("GET")
            && "navigate".equals(request.header("Sec-Fetch-Mode"))
            && "document".equals(request.header("Sec-Fetch-Dest"));
    return site != null && !site.equals("same-origin") && !site.equals("none") && !followed;
  }

  static RefusedException foreignOrigin(String remedy) {
    return new RefusedException(
        403, "foreign-origin", "A page of another site asked for this.", remedy);
  }
}
