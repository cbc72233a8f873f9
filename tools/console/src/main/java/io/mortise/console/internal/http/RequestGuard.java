package io.mortise.console.internal.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What every request must keep before anybody looks at what it asks for. */
abstract class RequestGuard {
  static final int MAX_BODY = 8 * 1024;

  private static final int MAX_ADDRESS = 4096;

  /**
   * For every request.
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
   * Where it goes to, and which page it comes from.
   *
   * @throws RefusedException if it is meant for another site, or comes from one
   */
  abstract void checkSource(ConsoleRequest request);

  /**
   * Whether the head of a request proves a right to use the API. Nothing else is read of others.
   *
   * @throws RefusedException if it cannot be told
   */
  abstract boolean admits(ConsoleRequest request);

  /** The answer to a request to the API that has no right to one; null if it has. */
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
   * Whether a browser says that a page of another site sent this. A link to the page from another
   * site is followed; all that the page fetches comes from itself.
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
